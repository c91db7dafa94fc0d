-- One version, 0 = the active one.
-- returns: version int, sha256 text
SELECT version, sha256 FROM policy_versions
WHERE version = CASE WHEN $1::int4 > 0 THEN $1::int4 ELSE (SELECT max(version) FROM policy_versions) END
