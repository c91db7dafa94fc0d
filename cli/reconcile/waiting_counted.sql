-- An order counts as many waiting events as there are, and no event waits for an order that is not there.
-- returns: judged bigint, broken bigint, out of reach bigint, examples text[], remark text
WITH x AS MATERIALIZED (
    SELECT coalesce(o.order_id, w.order_id) AS ref, o.order_id IS NULL OR o.waiting <> coalesce(w.n, 0) AS bad, false AS gone
    FROM orders o
    FULL JOIN (SELECT bucket, order_id, count(*) AS n FROM waiting GROUP BY 1, 2) w USING (bucket, order_id)
    WHERE o.waiting <> 0 OR w.n IS NOT NULL
)
SELECT count(*) FILTER (WHERE NOT (bad AND gone)), count(*) FILTER (WHERE bad AND NOT gone),
       count(*) FILTER (WHERE bad AND gone), ARRAY(SELECT ref FROM x WHERE bad AND NOT gone ORDER BY ref LIMIT 5),
       NULL::text
FROM x
