-- No event was taken in as a first copy twice within the window. $1 seconds, $2 keep.keys in seconds.
-- returns: judged bigint, broken bigint, out of reach bigint, examples text[], remark text
WITH x AS MATERIALIZED (
    SELECT event_id AS ref, count(*) > 1 AND max(received_at) - min(received_at) < $2::int8 * interval '1 second' AS bad,
           false AS gone
    FROM bodies WHERE outcome <> 3 AND received_at > now() - $1::int8 * interval '1 second'
    GROUP BY bucket, event_id, source, scope
)
SELECT count(*) FILTER (WHERE NOT (bad AND gone)), count(*) FILTER (WHERE bad AND NOT gone),
       count(*) FILTER (WHERE bad AND gone), ARRAY(SELECT ref FROM x WHERE bad AND NOT gone ORDER BY ref LIMIT 5),
       NULL::text
FROM x
