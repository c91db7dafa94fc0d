-- The active policy version, as this claim sees it.
-- returns: version int (0 = none applied yet)
SELECT coalesce(max(version), 0) FROM policy_versions
