-- Every step of a delivery but the one on the wire has one attempt. $1 seconds.
-- returns: judged bigint, broken bigint, out of reach bigint, examples text[], remark text
WITH h AS (SELECT coalesce(max(newest), '-infinity') AS at FROM emptied WHERE ring = 'attempts'), y AS (
    SELECT replace(d.notification_id::text, '-', '') AS ref, d.tries - (d.state = 1)::int4 AS want, d.tries,
           d.created_at <= h.at AS old,
           coalesce(a.n, 0) AS n, coalesce(a.steps, 0) AS steps, coalesce(a.last, 0) AS last
    FROM deliveries d CROSS JOIN h
    LEFT JOIN (SELECT bucket, notification_id, channel, target, redrive, count(*) AS n,
                      count(DISTINCT step) AS steps, max(step) AS last
               FROM attempts WHERE outcome <= 5 GROUP BY 1, 2, 3, 4, 5) a USING (bucket, notification_id, channel, target, redrive)
    WHERE d.created_at > now() - $1::int8 * interval '1 second'
), x AS MATERIALIZED (
    SELECT ref, n <> want OR n <> steps OR last > tries AS bad,
           n < want AND n = steps AND last <= tries AND old AS gone FROM y
)
SELECT count(*) FILTER (WHERE NOT (bad AND gone)), count(*) FILTER (WHERE bad AND NOT gone),
       count(*) FILTER (WHERE bad AND gone), ARRAY(SELECT ref FROM x WHERE bad AND NOT gone ORDER BY ref LIMIT 5),
       NULL::text
FROM x
