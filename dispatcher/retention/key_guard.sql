-- With the turn held: may the slot after generation $1 be emptied, or ($3) be taken by the next one? Division by zero
-- (22012) = no, and the transaction ends with nothing done. $2 keep.keys in s, as policy version $4 says.
-- returns: one row
SELECT 1 / coalesce((
    g.gen = $1::int8 AND NOT g.overlap
    AND (NOT $3::bool OR clock_timestamp() - g.at >= $2::int8 * interval '1 second')
    AND (NOT $3::bool OR (SELECT coalesce(sum(pg_relation_size(c.oid)), 0) = 0 FROM pg_class c
                          WHERE c.relnamespace = 'pawl'::regnamespace
                            AND c.relname IN ('keys_' || ($1::int8 + 1) % 4, 'replay_keys_' || ($1::int8 + 1) % 4)))
    -- What is there is of g-3: the last key that is in no later one is from before the end of the overlap of g-2.
    AND coalesce((SELECT clock_timestamp() - o.at >= $2::int8 * interval '1 second' FROM key_gen o
                  WHERE o.gen = $1::int8 - 2 AND $1::int8 > 3), true)
    AND $4::int4 = (SELECT max(version) FROM policy_versions))::int4, 0)
FROM (SELECT gen, overlap, at FROM key_gen ORDER BY gen DESC LIMIT 1) g
