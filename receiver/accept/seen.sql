-- The policy version and key generation that this transaction works under.
-- returns: version int (0 = none applied yet), gen bigint, overlap boolean
SELECT coalesce((SELECT max(version) FROM policy_versions), 0), gen, overlap
FROM key_gen ORDER BY gen DESC LIMIT 1
