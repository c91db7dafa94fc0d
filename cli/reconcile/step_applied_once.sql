-- No order was moved to one state twice. $1 seconds.
-- returns: judged bigint, broken bigint, out of reach bigint, examples text[], remark text
WITH x AS MATERIALIZED (
    SELECT order_id AS ref, count(*) > 1 AS bad, false AS gone
    FROM moves WHERE outcome = 1 AND order_id IS NOT NULL AND at > now() - $1::int8 * interval '1 second'
    GROUP BY bucket, order_id, to_state
)
SELECT count(*) FILTER (WHERE NOT (bad AND gone)), count(*) FILTER (WHERE bad AND NOT gone),
       count(*) FILTER (WHERE bad AND gone), ARRAY(SELECT ref FROM x WHERE bad AND NOT gone ORDER BY ref LIMIT 5),
       NULL::text
FROM x
