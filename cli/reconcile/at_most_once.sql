-- No at-most-once delivery was tried again, or is to be, after a try that the provider may have taken. $1 s.
-- returns: judged bigint, broken bigint, out of reach bigint, examples text[], remark text
WITH x AS MATERIALIZED (
    SELECT replace(d.notification_id::text, '-', '') AS ref,
           coalesce(a.taken < a.last OR (a.taken IS NOT NULL AND d.state IN (0, 1)), false) AS bad, false AS gone
    FROM deliveries d
    LEFT JOIN (SELECT bucket, notification_id, channel, target, redrive, min(step) FILTER (WHERE outcome IN (1, 4)) AS taken,
                      max(step) FILTER (WHERE outcome <> 5) AS last
               FROM attempts GROUP BY 1, 2, 3, 4, 5) a USING (bucket, notification_id, channel, target, redrive)
    WHERE d.delivery_order = 1 AND d.created_at > now() - $1::int8 * interval '1 second'
)
SELECT count(*) FILTER (WHERE NOT (bad AND gone)), count(*) FILTER (WHERE bad AND NOT gone),
       count(*) FILTER (WHERE bad AND gone), ARRAY(SELECT ref FROM x WHERE bad AND NOT gone ORDER BY ref LIMIT 5),
       NULL::text
FROM x
