-- Who applied it.
-- returns: nothing
INSERT INTO audit (actor, action, object, reason) VALUES ($1::text, 'policy.apply', 'policy/' || $2::int4::text, $3::text)
