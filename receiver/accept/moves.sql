-- One row for each judgement. $12: the notifications it made as an array literal, or NULL. $13: policy version.
-- returns: nothing
INSERT INTO moves (bucket, source, outcome, from_state, to_state, version, nth, policy, order_id, event_id, scope, sequence,
                   notifications, at)
SELECT u.b, u.s, u.r, u.f, u.t, u.v, u.n, $13::int4, u.o, u.e, u.sc, u.q, u.ns::uuid[], now()
FROM unnest($1::int4[], $2::int4[], $3::int4[], $4::int4[], $5::int4[], $6::int4[], $7::int4[], $8::text[], $9::text[],
            $10::text[], $11::int8[], $12::text[]) u(b, s, r, f, t, v, n, o, e, sc, q, ns)
