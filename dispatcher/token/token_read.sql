-- The token of the moment, and how long each of its times is away (0 = past).
-- returns: token (sealed, NULL = none), generation, refresh ms, expiry ms, hold ms, held by somebody
SELECT token, generation,
       CASE WHEN refresh_after <= now() THEN 0 ELSE (extract(epoch FROM refresh_after - now()) * 1000)::int8 END,
       CASE WHEN expires_at <= now() THEN 0 ELSE (extract(epoch FROM expires_at - now()) * 1000)::int8 END,
       CASE WHEN held_until <= now() THEN 0 ELSE (extract(epoch FROM held_until - now()) * 1000)::int8 END,
       held_by IS NOT NULL
FROM provider_tokens WHERE identity = $1::uuid
