-- No token came: nobody tries again before the time is over.
-- returns: nothing
UPDATE provider_tokens
SET held_until = now() + make_interval(secs => $3::float8), held_by = NULL
WHERE identity = $1::uuid AND held_by = $2::uuid
