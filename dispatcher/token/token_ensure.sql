-- A row for a provider that has none yet.
-- returns: nothing
INSERT INTO provider_tokens (identity, driver) VALUES ($1::uuid, $2::text) ON CONFLICT (identity) DO NOTHING
