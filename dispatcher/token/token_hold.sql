-- One worker may make the next token: when it is time, or when the token of this generation was refused as too old and is
-- not younger than the provider allows.
-- returns: the database's clock, unix seconds; no row when it is not ours to make
UPDATE provider_tokens
SET held_until = now() + make_interval(secs => $3::float8), held_by = $2::uuid
WHERE identity = $1::uuid AND held_until <= now()
  AND (refresh_after <= now() OR (generation = $4::int8 AND made_at <= now() - make_interval(secs => $5::float8)))
RETURNING extract(epoch FROM now())::float8
