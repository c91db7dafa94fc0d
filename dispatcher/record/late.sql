-- Dates deliveries that a receipt ended while this try of them was still on the wire, after an earlier one: the
-- message may have arrived a second time just now, and its cap slots count from then. Who holds such a row dates it itself.
-- returns: nothing
WITH late AS MATERIALIZED (
    SELECT d.bucket, d.notification_id, d.channel, d.target, d.redrive
    FROM unnest($1::int4[], $2::uuid[], $3::int4[], $4::text[], $5::int4[], $6::int4[]) u(b, n, c, tg, rd, t)
    CROSS JOIN LATERAL (
        SELECT x.bucket, x.notification_id, x.channel, x.target, x.redrive FROM deliveries x
        WHERE x.bucket = u.b AND x.notification_id = u.n AND x.channel = u.c AND x.target = u.tg AND x.redrive = u.rd
          AND x.tries = u.t AND x.state > 1 AND x.updated_at < now() -- else it was recorded just before
        FOR UPDATE SKIP LOCKED) d
)
UPDATE deliveries d SET updated_at = now() FROM late l
WHERE d.bucket = ANY(ARRAY[l.bucket]) AND d.notification_id = l.notification_id AND d.channel = l.channel
  AND d.target = l.target AND d.redrive = l.redrive
