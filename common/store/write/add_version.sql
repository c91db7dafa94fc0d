-- The next version; two appliers at once meet in the primary key and one tries again.
-- returns: nothing
INSERT INTO policy_versions (version, sha256, note, author) VALUES ($1::int4, $2::text, $3::text, $4::text)
