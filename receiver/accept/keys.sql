-- Takes keys in slot $1 unless they are in slot $2 already (-1 = no slot). Sorted like the arrays, so that two batches
-- with the same ids wait for each other instead of deadlocking.
-- returns: bucket, event_id, source, scope of the rows that were new, in that order
INSERT INTO keys (bucket, source, slot, event_id, scope, fp, arrival, order_id, first_at)
SELECT u.b, u.s, $1::int4, u.e, u.sc, u.f, u.a, u.o, now()
FROM unnest($3::int4[], $4::int4[], $5::text[], $6::text[], $7::bytea[], $8::uuid[], $9::text[])
         u(b, s, e, sc, f, a, o)
WHERE (SELECT true FROM keys k -- a scalar subquery stays a probe of the key; NOT EXISTS may become a scan of the slot
       WHERE k.slot = $2::int4 AND k.bucket = u.b AND k.event_id = u.e COLLATE "C"
         AND k.source = u.s AND k.scope = u.sc COLLATE "C") IS NULL
ORDER BY u.b, u.e COLLATE "C", u.s, u.sc COLLATE "C"
ON CONFLICT DO NOTHING
RETURNING bucket, event_id, source, scope
