-- The lease of the batch, by the database's clock ($3: milliseconds), and the fence of its records. $9: tries as raised.
-- returns: nothing
INSERT INTO claims (claim_id, worker, lease_until, b, n, ch, tg, rd, t)
VALUES ($1::uuid, $2::uuid, clock_timestamp() + $3::int8 * interval '1 millisecond', $4::int4[], $5::uuid[], $6::int4[],
        $7::text[], $8::int4[], $9::int4[])
