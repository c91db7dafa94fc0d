-- Notes when secrets last matched; a time never goes back. $1 stored numbers of sources, $2 credentials, $3 unix seconds.
-- returns: nothing
INSERT INTO secret_uses AS s (source, secret, first_at, last_at)
SELECT u.s, u.c, to_timestamp(max(u.t)), to_timestamp(max(u.t))
FROM unnest($1::int4[], $2::text[], $3::int8[]) u(s, c, t)
GROUP BY u.s, u.c
ORDER BY u.s, u.c
ON CONFLICT (source, secret) DO UPDATE SET last_at = excluded.last_at WHERE s.last_at < excluded.last_at
