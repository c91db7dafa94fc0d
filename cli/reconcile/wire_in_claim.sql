-- Every delivery on the wire is in one claim, at its step. $1 seconds.
-- returns: judged bigint, broken bigint, out of reach bigint, examples text[], remark text
WITH x AS MATERIALIZED (
    SELECT replace(d.notification_id::text, '-', '') AS ref, coalesce(c.n, 0) <> 1 AS bad, false AS gone
    FROM deliveries d
    LEFT JOIN (SELECT m.bucket, m.notification_id, m.channel, m.target, m.redrive, m.tries, count(*) AS n
               FROM claims, unnest(b, n, ch, tg, rd, t) m(bucket, notification_id, channel, target, redrive, tries)
               GROUP BY 1, 2, 3, 4, 5, 6) c USING (bucket, notification_id, channel, target, redrive, tries)
    WHERE d.state = 1 AND d.created_at > now() - $1::int8 * interval '1 second'
)
SELECT count(*) FILTER (WHERE NOT (bad AND gone)), count(*) FILTER (WHERE bad AND NOT gone),
       count(*) FILTER (WHERE bad AND gone), ARRAY(SELECT ref FROM x WHERE bad AND NOT gone ORDER BY ref LIMIT 5),
       NULL::text
FROM x
