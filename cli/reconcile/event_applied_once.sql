-- No event was applied twice within the window. $1 seconds, $2 keep.keys in seconds.
-- returns: judged bigint, broken bigint, out of reach bigint, examples text[], remark text
WITH x AS MATERIALIZED (
    SELECT event_id AS ref, coalesce(bool_or(at - before < $2::int8 * interval '1 second'), false) AS bad, false AS gone
    FROM (SELECT source, scope, event_id, at, lag(at) OVER w AS before
          FROM moves WHERE outcome = 1 AND at > now() - $1::int8 * interval '1 second'
          WINDOW w AS (PARTITION BY source, scope, event_id ORDER BY at)) m
    GROUP BY source, scope, event_id
)
SELECT count(*) FILTER (WHERE NOT (bad AND gone)), count(*) FILTER (WHERE bad AND NOT gone),
       count(*) FILTER (WHERE bad AND gone), ARRAY(SELECT ref FROM x WHERE bad AND NOT gone ORDER BY ref LIMIT 5),
       NULL::text
FROM x
