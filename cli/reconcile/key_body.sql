-- Every key has the body of its first copy. Two rows of one key are of one event: two generations may overlap. $1 seconds.
-- returns: judged bigint, broken bigint, out of reach bigint, examples text[], remark text
WITH h AS (SELECT coalesce(max(newest), '-infinity') AS at FROM emptied WHERE ring = 'bodies'), x AS MATERIALIZED (
    SELECT k.event_id AS ref, b.event_id IS NULL AS bad, k.first_at <= h.at AS gone
    FROM (SELECT bucket, event_id, source, scope, min(first_at) AS first_at FROM keys
          WHERE first_at > now() - $1::int8 * interval '1 second' GROUP BY 1, 2, 3, 4) k
    CROSS JOIN h
    LEFT JOIN (SELECT DISTINCT bucket, event_id, source, scope FROM bodies
               WHERE outcome <> 3 AND received_at > now() - $1::int8 * interval '1 second' - interval '1 hour') b
        USING (bucket, event_id, source, scope)
)
SELECT count(*) FILTER (WHERE NOT (bad AND gone)), count(*) FILTER (WHERE bad AND NOT gone),
       count(*) FILTER (WHERE bad AND gone), ARRAY(SELECT ref FROM x WHERE bad AND NOT gone ORDER BY ref LIMIT 5),
       NULL::text
FROM x
