-- The texts of a version, 0 = the active one; in one snapshot with nothing else, since a version never changes.
-- returns: kind int (1 policy file, 2 template), path text, body bytea
SELECT kind, path, body FROM policy_texts
WHERE version = CASE WHEN $1::int4 > 0 THEN $1::int4 ELSE (SELECT max(version) FROM policy_versions) END
ORDER BY kind, path
