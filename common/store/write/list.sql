-- All versions, newest first.
-- returns: version int, sha256 text, note text, author text, applied_us int8
SELECT version, sha256, note, author, (extract(epoch FROM applied_at) * 1000000)::int8
FROM policy_versions ORDER BY version DESC LIMIT 10000
