-- Every repeat is of an event whose key is there, and has an age. $1 seconds, $2 keep.keys in seconds.
-- returns: judged bigint, broken bigint, out of reach bigint, examples text[], remark text
WITH x AS MATERIALIZED (
    SELECT r.event_id AS ref, k.event_id IS NULL OR r.age < interval '0' AS bad,
           r.at - r.age < now() - $2::int8 * interval '1 second' AS gone
    FROM repeats r
    LEFT JOIN (SELECT DISTINCT bucket, event_id, source, scope FROM keys) k USING (bucket, event_id, source, scope)
    WHERE r.at > now() - $1::int8 * interval '1 second'
)
SELECT count(*) FILTER (WHERE NOT (bad AND gone)), count(*) FILTER (WHERE bad AND NOT gone),
       count(*) FILTER (WHERE bad AND gone), ARRAY(SELECT ref FROM x WHERE bad AND NOT gone ORDER BY ref LIMIT 5),
       NULL::text
FROM x
