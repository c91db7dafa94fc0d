-- Lets events wait.
-- returns: nothing
INSERT INTO waiting (bucket, source, to_state, reason, sequence, order_id, event_id, scope, type,
                     contact, data, since)
SELECT u.b, u.s, u.t, u.r, u.q, u.o, u.e, u.sc, u.ty, u.c, u.d, now()
FROM unnest($1::int4[], $2::int4[], $3::int4[], $4::int4[], $5::int8[], $6::text[], $7::text[], $8::text[],
            $9::text[], $10::text[], $11::text[]) u(b, s, t, r, q, o, e, sc, ty, c, d)
ORDER BY u.b, u.o COLLATE "C", u.e COLLATE "C"
ON CONFLICT DO NOTHING
