-- Writes down why deliveries that were put back wait ($8), and gives them their time for tries back: $7 milliseconds.
-- returns: nothing
UPDATE deliveries d
SET reason = u.r, updated_at = now(),
    -- Equal to created_at it says that there are no retries.
    retry_until = CASE WHEN d.retry_until > d.created_at THEN d.retry_until + u.w * interval '1 millisecond' ELSE d.retry_until END
FROM unnest($1::int4[], $2::uuid[], $3::int4[], $4::text[], $5::int4[], $6::int4[], $7::int8[], $8::text[])
     u(b, n, c, tg, rd, t, w, r)
WHERE d.bucket = ANY(ARRAY[u.b]) AND d.notification_id = u.n AND d.channel = u.c AND d.target = u.tg AND d.redrive = u.rd
  AND d.tries = u.t AND d.state = 0
