-- Every judgement is of an order that exists, at a version it has come to. $1 seconds.
-- returns: judged bigint, broken bigint, out of reach bigint, examples text[], remark text
WITH x AS MATERIALIZED (
    SELECT m.order_id AS ref, o.order_id IS NULL OR m.version > o.version AS bad, false AS gone
    FROM moves m LEFT JOIN orders o USING (bucket, order_id)
    WHERE m.order_id IS NOT NULL AND m.at > now() - $1::int8 * interval '1 second'
)
SELECT count(*) FILTER (WHERE NOT (bad AND gone)), count(*) FILTER (WHERE bad AND NOT gone),
       count(*) FILTER (WHERE bad AND gone), ARRAY(SELECT ref FROM x WHERE bad AND NOT gone ORDER BY ref LIMIT 5),
       NULL::text
FROM x
