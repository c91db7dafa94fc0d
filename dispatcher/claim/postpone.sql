-- Puts rows back that were taken and can't be judged now. $7: lane, $8: in how many milliseconds.
-- returns: nothing
INSERT INTO due (bucket, lane, due_at, notification_id, channel, redrive, tries, target)
SELECT u.b, u.l, now() + u.ms * interval '1 millisecond', u.n, u.c, u.rd, u.t, u.tg
FROM unnest($1::int4[], $2::uuid[], $3::int4[], $4::text[], $5::int4[], $6::int4[], $7::int4[], $8::int8[])
     u(b, n, c, tg, rd, t, l, ms)
