-- Makes deliveries due, in so many milliseconds ($5).
-- returns: nothing
INSERT INTO due (bucket, lane, due_at, notification_id, channel, redrive, tries, target)
SELECT u.b, u.l, now() + u.w * interval '1 millisecond', u.n, u.c, 0, 0, u.tg
FROM unnest($1::int4[], $2::int4[], $3::uuid[], $4::int4[], $5::int8[], $6::text[]) u(b, l, n, c, w, tg)
