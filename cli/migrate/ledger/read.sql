-- What was applied.
-- returns: number int, name text, sha256 text, applied_at text, by_version text
SELECT number, name, sha256, to_char(applied_at, 'YYYY-MM-DD"T"HH24:MI:SS"Z"'), by_version
FROM migrations ORDER BY number
