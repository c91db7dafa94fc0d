-- Writes down why deliveries that were put back wait ($8), and gives them their time for tries back: $7 milliseconds. One that a
-- rival ends just now (collapse.sql, in favour of a newer one) is not waited for: the rival may wait for a cap slot of this claim.
-- returns: nothing
WITH locked AS MATERIALIZED (
    SELECT u.b, u.n, u.c, u.tg, u.rd, u.w, u.r
    FROM unnest($1::int4[], $2::uuid[], $3::int4[], $4::text[], $5::int4[], $6::int4[], $7::int8[], $8::text[])
         u(b, n, c, tg, rd, t, w, r)
    CROSS JOIN LATERAL (
        SELECT FROM deliveries x
        WHERE x.bucket = u.b AND x.notification_id = u.n AND x.channel = u.c AND x.target = u.tg AND x.redrive = u.rd
          AND x.tries = u.t AND x.state = 0
        FOR UPDATE SKIP LOCKED) d
)
UPDATE deliveries d
SET reason = l.r, updated_at = now(),
    -- Equal to created_at it says that there are no retries.
    retry_until = CASE WHEN d.retry_until > d.created_at THEN d.retry_until + l.w * interval '1 millisecond' ELSE d.retry_until END
FROM locked l
WHERE d.bucket = ANY(ARRAY[l.b]) AND d.notification_id = l.n AND d.channel = l.c AND d.target = l.tg AND d.redrive = l.rd
