-- Rows of keys that are no longer used.
-- returns: nothing
DELETE FROM provider_tokens
WHERE made_at < now() - interval '7 days' AND expires_at < now() AND held_until < now() AND identity <> $1::uuid
