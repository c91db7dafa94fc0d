-- One row for each receipt of a known delivery. $9: state it came to; $10: the try that it is of.
-- returns: nothing
INSERT INTO receipts (bucket, channel, notification_id, redrive, source, kind, outcome, from_state, to_state, step, event_id,
                      scope, provider_id, said, target, at)
SELECT u.b, u.c, u.n, u.rd, u.s, u.k, u.oc, u.s0, u.st, u.t, u.e, u.sc, u.pi, u.w, '', now()
FROM unnest($1::int4[], $2::int4[], $3::uuid[], $4::int4[], $5::int4[], $6::int4[], $7::int4[], $8::int4[], $9::int4[],
            $10::int4[], $11::text[], $12::text[], $13::text[], $14::text[]) u(b, c, n, rd, s, k, oc, s0, st, t, e, sc, pi, w)
