-- Every notification is listed by one applied move. $1 seconds.
-- returns: judged bigint, broken bigint, out of reach bigint, examples text[], remark text
WITH h AS (SELECT coalesce(max(newest), '-infinity') AS at FROM emptied WHERE ring = 'moves'), x AS MATERIALIZED (
    SELECT replace(n.notification_id::text, '-', '') AS ref, coalesce(m.n, 0) <> 1 AS bad,
           m.n IS NULL AND n.created_at <= h.at AS gone
    FROM notifications n CROSS JOIN h
    LEFT JOIN (SELECT id, count(*) AS n FROM moves, unnest(notifications) id WHERE outcome = 1 GROUP BY 1) m
        ON m.id = n.notification_id
    WHERE n.created_at > now() - $1::int8 * interval '1 second'
)
SELECT count(*) FILTER (WHERE NOT (bad AND gone)), count(*) FILTER (WHERE bad AND NOT gone),
       count(*) FILTER (WHERE bad AND gone), ARRAY(SELECT ref FROM x WHERE bad AND NOT gone ORDER BY ref LIMIT 5),
       NULL::text
FROM x
