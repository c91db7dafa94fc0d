-- Keeps raw bodies: first copies and mismatches; those of one arrival have it in one of their rows, the others are empty.
-- returns: nothing
INSERT INTO bodies (bucket, source, outcome, event_id, scope, arrival, received_at, type, reason, secret, headers, body)
SELECT u.b, u.s, u.o, u.e, u.sc, u.a, now(), u.t, u.r, u.k, u.h, u.d
FROM unnest($1::int4[], $2::int4[], $3::int4[], $4::text[], $5::text[], $6::uuid[], $7::text[], $8::text[],
            $9::text[], $10::text[], $11::bytea[]) u(b, s, o, e, sc, a, t, r, k, h, d)
