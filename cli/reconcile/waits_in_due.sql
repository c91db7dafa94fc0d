-- Every delivery that waits for a try is in `due`, at its step, or its provider is being asked about the last one. $1 seconds.
-- returns: judged bigint, broken bigint, out of reach bigint, examples text[], remark text
WITH x AS MATERIALIZED (
    SELECT replace(d.notification_id::text, '-', '') AS ref, u.tries IS NULL AS bad, false AS gone
    FROM deliveries d
    LEFT JOIN (SELECT bucket, notification_id, channel, target, redrive, tries FROM due
               UNION
               SELECT m.* FROM claims, unnest(b, n, ch, tg, rd, t) m(bucket, notification_id, channel, target, redrive, tries)
               WHERE lookup)
        u USING (bucket, notification_id, channel, target, redrive, tries)
    WHERE d.state = 0 AND d.created_at > now() - $1::int8 * interval '1 second'
)
SELECT count(*) FILTER (WHERE NOT (bad AND gone)), count(*) FILTER (WHERE bad AND NOT gone),
       count(*) FILTER (WHERE bad AND gone), ARRAY(SELECT ref FROM x WHERE bad AND NOT gone ORDER BY ref LIMIT 5),
       NULL::text
FROM x
