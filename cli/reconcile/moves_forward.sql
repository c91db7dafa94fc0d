-- The applied moves of an order follow one another: each starts where the one before ended. $1 seconds.
-- returns: judged bigint, broken bigint, out of reach bigint, examples text[], remark text
WITH x AS MATERIALIZED (
    SELECT order_id AS ref, from_state = to_state OR (version = 1) <> (from_state = 0)
               OR coalesce(version <> before + 1 OR from_state <> was, false) AS bad,
           false AS gone
    FROM (SELECT order_id, version, from_state, to_state, lag(version) OVER w AS before, lag(to_state) OVER w AS was
          FROM moves WHERE outcome = 1 AND order_id IS NOT NULL AND at > now() - $1::int8 * interval '1 second'
          WINDOW w AS (PARTITION BY bucket, order_id ORDER BY version, at, nth)) m
)
SELECT count(*) FILTER (WHERE NOT (bad AND gone)), count(*) FILTER (WHERE bad AND NOT gone),
       count(*) FILTER (WHERE bad AND gone), ARRAY(SELECT ref FROM x WHERE bad AND NOT gone ORDER BY ref LIMIT 5),
       NULL::text
FROM x
