-- Makes deliveries of new notifications. Durations are in milliseconds from now, NULL = none; state 5 = withheld at once.
-- returns: nothing
INSERT INTO deliveries (bucket, channel, notification_id, state, delivery_order, lane, address, zone, reason, created_at,
                        updated_at, expires_at, retry_until, target, collapse, recipient, order_version)
SELECT u.b, u.c, u.n, u.st, u.m, u.l, u.a, u.z, u.r, now(), now(),
       now() + u.x * interval '1 millisecond', now() + u.y * interval '1 millisecond', u.tg, u.co, u.re, u.v
FROM unnest($1::int4[], $2::int4[], $3::uuid[], $4::int4[], $5::int4[], $6::int4[], $7::text[], $8::text[], $9::text[],
            $10::int8[], $11::int8[], $12::text[], $13::text[], $14::text[], $15::int4[])
     u(b, c, n, st, m, l, a, z, r, x, y, tg, co, re, v)
