-- Takes keys of signed bytes in slot $1 unless they are in slot $2 already (-1 = no slot), for events whose own key was
-- new, and for repeats where these bytes may come only once. Sorted like the arrays, as keys.sql.
-- returns: bucket, digest, source of the rows that were new, in that order
INSERT INTO replay_keys (bucket, source, slot, digest, event_id, scope, first_at)
SELECT u.b, u.s, $1::int4, u.d, u.e, u.sc, now()
FROM unnest($3::int4[], $4::int4[], $5::bytea[], $6::text[], $7::text[]) u(b, s, d, e, sc)
WHERE (SELECT true FROM replay_keys k -- a scalar subquery, as in keys.sql
       WHERE k.slot = $2::int4 AND k.bucket = u.b AND k.digest = u.d AND k.source = u.s) IS NULL
ORDER BY u.b, u.d, u.s
ON CONFLICT DO NOTHING
RETURNING bucket, digest, source
