-- The ledger row of a file, in the file's own transaction.
-- returns: nothing
INSERT INTO migrations (number, name, sha256, by_version) VALUES ($1::int4, $2::text, $3::text, $4::text)
