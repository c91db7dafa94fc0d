-- The token of the moment, and how long each of its times is away (0 = past). After the clock was set back none is further away
-- than it was when the token was made.
-- returns: token (sealed, NULL = none), generation, refresh ms, expiry ms, hold ms, held by somebody
SELECT token, generation,
       CASE WHEN refresh_after <= now() THEN 0 ELSE (extract(epoch FROM least(refresh_after - now(), refresh_after - made_at)) * 1000)::int8 END,
       CASE WHEN expires_at <= now() THEN 0 ELSE (extract(epoch FROM least(expires_at - now(), expires_at - made_at)) * 1000)::int8 END,
       CASE WHEN held_until <= now() OR held_until > now() + interval '7 minutes' THEN 0 ELSE (extract(epoch FROM held_until - now()) * 1000)::int8 END,
       held_by IS NOT NULL
FROM provider_tokens WHERE identity = $1::uuid
