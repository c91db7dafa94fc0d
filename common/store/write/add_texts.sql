-- All texts of a version.
-- returns: nothing
INSERT INTO policy_texts (version, kind, path, body)
SELECT $1::int4, u.kind, u.path, u.body FROM unnest($2::int4[], $3::text[], $4::bytea[]) u(kind, path, body)
