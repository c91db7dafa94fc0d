-- One worker may make the next token: when it is time, or when the token of this generation was refused as too old and is
-- not younger than the provider allows. What is of the future was written before the clock was set back: a token of then is made
-- anew, and a hold or pause counts no longer than the longest there is (TOKEN_FAILED_MAX_S, and a fifth of it).
-- returns: the database's clock, unix seconds; no row when it is not ours to make
UPDATE provider_tokens
SET held_until = now() + make_interval(secs => $3::float8), held_by = $2::uuid
WHERE identity = $1::uuid AND (held_until <= now() OR held_until > now() + interval '7 minutes')
  AND (refresh_after <= now() OR made_at > now() + interval '5 seconds' OR (generation = $4::int8 AND made_at <= now() - make_interval(secs => $5::float8)))
RETURNING extract(epoch FROM now())::float8
