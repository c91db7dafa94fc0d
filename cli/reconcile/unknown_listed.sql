-- The deliveries whose outcome is unknown are those in the list of them. $1 seconds.
-- returns: judged bigint, broken bigint, out of reach bigint, examples text[], remark text
WITH x AS MATERIALIZED (
    SELECT replace(d.notification_id::text, '-', '') AS ref, u.channel IS NULL AS bad, false AS gone
    FROM deliveries d LEFT JOIN unknown_outcomes u USING (bucket, notification_id, channel, target, redrive)
    WHERE d.state = 9 AND d.created_at > now() - $1::int8 * interval '1 second'
    UNION ALL
    SELECT replace(u.notification_id::text, '-', ''), d.state IS DISTINCT FROM 9, false
    FROM unknown_outcomes u LEFT JOIN deliveries d USING (bucket, notification_id, channel, target, redrive)
    WHERE d.state IS DISTINCT FROM 9
)
SELECT count(*) FILTER (WHERE NOT (bad AND gone)), count(*) FILTER (WHERE bad AND NOT gone),
       count(*) FILTER (WHERE bad AND gone), ARRAY(SELECT ref FROM x WHERE bad AND NOT gone ORDER BY ref LIMIT 5),
       NULL::text
FROM x
