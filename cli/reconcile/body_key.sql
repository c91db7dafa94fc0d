-- Every body of a first copy has its key. $1 seconds, $2 keep.keys in seconds.
-- returns: judged bigint, broken bigint, out of reach bigint, examples text[], remark text
WITH x AS MATERIALIZED (
    SELECT b.event_id AS ref, k.event_id IS NULL AS bad, false AS gone
    FROM bodies b
    LEFT JOIN (SELECT DISTINCT bucket, event_id, source, scope FROM keys) k USING (bucket, event_id, source, scope)
    WHERE b.outcome <> 3 AND b.received_at > now() - least($1::int8, $2::int8) * interval '1 second'
)
SELECT count(*) FILTER (WHERE NOT (bad AND gone)), count(*) FILTER (WHERE bad AND NOT gone),
       count(*) FILTER (WHERE bad AND gone), ARRAY(SELECT ref FROM x WHERE bad AND NOT gone ORDER BY ref LIMIT 5),
       NULL::text
FROM x
