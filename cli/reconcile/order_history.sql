-- An order's version, state and done steps are what its applied moves say. What kept moves contradict is no matter of
-- retention; that some lack may be. $1 seconds.
-- returns: judged bigint, broken bigint, out of reach bigint, examples text[], remark text
WITH h AS (SELECT coalesce(max(newest), '-infinity') AS at FROM emptied WHERE ring = 'moves'), m AS (
    SELECT bucket, order_id, count(*) AS n, min(version) AS first, max(version) AS last,
           array_agg(to_state ORDER BY version) AS states
    FROM moves WHERE outcome = 1 AND order_id IS NOT NULL GROUP BY 1, 2
), y AS (
    SELECT o.order_id AS ref, o.created_at <= h.at AS old,
           coalesce(m.last > o.version OR m.n <> m.last - m.first + 1 OR NOT m.states <@ o.done
                    OR (m.last = o.version AND m.states[m.n] <> o.state), false)
               OR cardinality(o.done) <> o.version OR (o.version = 0) <> (o.state = 0) AS wrong,
           o.version > 0 AND (m.n IS NULL OR m.first > 1 OR m.last < o.version) AS lacks
    FROM orders o CROSS JOIN h LEFT JOIN m USING (bucket, order_id)
    WHERE o.updated_at > now() - $1::int8 * interval '1 second'
), x AS MATERIALIZED (SELECT ref, wrong OR lacks AS bad, NOT wrong AND old AS gone FROM y)
SELECT count(*) FILTER (WHERE NOT (bad AND gone)), count(*) FILTER (WHERE bad AND NOT gone),
       count(*) FILTER (WHERE bad AND gone), ARRAY(SELECT ref FROM x WHERE bad AND NOT gone ORDER BY ref LIMIT 5),
       NULL::text
FROM x
