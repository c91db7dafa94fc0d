-- Every delivery that waits for a try is in `due`, at its step. $1 seconds.
-- returns: judged bigint, broken bigint, out of reach bigint, examples text[], remark text
WITH x AS MATERIALIZED (
    SELECT replace(d.notification_id::text, '-', '') AS ref, u.tries IS NULL AS bad, false AS gone
    FROM deliveries d
    LEFT JOIN (SELECT DISTINCT bucket, notification_id, channel, target, redrive, tries FROM due)
        u USING (bucket, notification_id, channel, target, redrive, tries)
    WHERE d.state = 0 AND d.created_at > now() - $1::int8 * interval '1 second'
)
SELECT count(*) FILTER (WHERE NOT (bad AND gone)), count(*) FILTER (WHERE bad AND NOT gone),
       count(*) FILTER (WHERE bad AND gone), ARRAY(SELECT ref FROM x WHERE bad AND NOT gone ORDER BY ref LIMIT 5),
       NULL::text
FROM x
