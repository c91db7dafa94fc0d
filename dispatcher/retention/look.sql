-- What there is: the key generation, and every slot with its size.
-- returns: a row a slot: version int (of the policy), now s bigint, gen bigint, overlap boolean, age s bigint, table text
--   (without its number), slot int, bytes bigint
SELECT coalesce((SELECT max(version) FROM policy_versions), 0), extract(epoch FROM clock_timestamp())::int8, g.gen, g.overlap,
       extract(epoch FROM clock_timestamp() - g.at)::int8, regexp_replace(c.relname::text, '_\d+$', ''),
       substring(c.relname::text FROM '\d+$')::int4, pg_relation_size(c.oid)
FROM (SELECT gen, overlap, at FROM key_gen ORDER BY gen DESC LIMIT 1) g, pg_class c
WHERE c.relnamespace = 'pawl'::regnamespace AND c.relkind = 'r'
  AND c.relname ~ '^(keys|replay_keys|bodies|repeats|moves|attempts|contents|rejected|receipts)_\d+$'
