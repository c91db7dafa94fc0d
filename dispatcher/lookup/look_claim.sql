-- The lease of a round of look-ups: $1 claim, $2 worker, $3 milliseconds, $4.. the deliveries, $9 tries.
-- returns: nothing
INSERT INTO claims (claim_id, worker, lease_until, b, n, ch, tg, rd, t, lookup)
VALUES ($1::uuid, $2::uuid, clock_timestamp() + $3::int8 * interval '1 millisecond', $4::int4[], $5::uuid[], $6::int4[],
        $7::text[], $8::int4[], $9::int4[], true)
