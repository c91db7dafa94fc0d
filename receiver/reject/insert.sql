-- Keeps refused requests ($3 = 0), and how many more of a kind were not kept ($3 > 0). Times in us.
-- returns: nothing
INSERT INTO rejected (source, id, left_out, body_bytes, received_at, last_at, at, reason, method, peer, target, headers,
                      body, body_sha256)
SELECT u.s, u.i, u.n, u.l, 'epoch'::timestamptz + u.r * interval '1 microsecond',
       'epoch'::timestamptz + u.e * interval '1 microsecond', now(), u.w, u.m, u.p, u.t, u.h, u.d, u.x
FROM unnest($1::int4[], $2::uuid[], $3::int8[], $4::int4[], $5::int8[], $6::int8[], $7::text[], $8::text[], $9::text[],
            $10::bytea[], $11::bytea[], $12::bytea[], $13::bytea[]) u(s, i, n, l, r, e, w, m, p, t, h, d, x)
