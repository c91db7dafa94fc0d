-- Every cap slot is of a delivery, and held without a date only while that has no end.
-- returns: judged bigint, broken bigint, out of reach bigint, examples text[], remark text
WITH x AS MATERIALIZED (
    SELECT replace(s.notification_id::text, '-', '') AS ref,
           d.state IS NULL OR (s.used_at IS NULL AND d.state NOT IN (0, 1, 9)) AS bad, false AS gone
    FROM cap_slots s LEFT JOIN deliveries d USING (bucket, notification_id, channel, target, redrive)
)
SELECT count(*) FILTER (WHERE NOT (bad AND gone)), count(*) FILTER (WHERE bad AND NOT gone),
       count(*) FILTER (WHERE bad AND gone), ARRAY(SELECT ref FROM x WHERE bad AND NOT gone ORDER BY ref LIMIT 5),
       NULL::text
FROM x
