-- Stores the token that the holder made; made_at is the clock that token_hold.sql returned, life in seconds from then.
-- returns: its generation; no row when another worker has taken over
UPDATE provider_tokens
SET token = $3::bytea, generation = generation + 1, made_at = to_timestamp($4::float8),
    refresh_after = to_timestamp($4::float8 + $5::float8), expires_at = to_timestamp($4::float8 + $6::float8),
    held_until = '-infinity', held_by = NULL
WHERE identity = $1::uuid AND held_by = $2::uuid
RETURNING generation
