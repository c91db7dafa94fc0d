-- The active policy version: the highest.
-- returns: version int, sha256 text; no row before the first apply
SELECT version, sha256 FROM policy_versions ORDER BY version DESC LIMIT 1
