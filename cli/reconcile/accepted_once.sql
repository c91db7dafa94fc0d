-- No event was taken in as a first copy twice within the window. $1 seconds, $2 keep.keys in seconds.
-- returns: judged bigint, broken bigint, out of reach bigint, examples text[], remark text
WITH x AS MATERIALIZED (
    SELECT event_id AS ref, coalesce(bool_or(received_at - before < $2::int8 * interval '1 second'), false) AS bad, false AS gone
    FROM (SELECT bucket, event_id, source, scope, received_at, lag(received_at) OVER w AS before
          FROM bodies WHERE outcome <> 3 AND received_at > now() - $1::int8 * interval '1 second'
          WINDOW w AS (PARTITION BY bucket, event_id, source, scope ORDER BY received_at)) b
    GROUP BY bucket, event_id, source, scope
)
SELECT count(*) FILTER (WHERE NOT (bad AND gone)), count(*) FILTER (WHERE bad AND NOT gone),
       count(*) FILTER (WHERE bad AND gone), ARRAY(SELECT ref FROM x WHERE bad AND NOT gone ORDER BY ref LIMIT 5),
       NULL::text
FROM x
