-- Settles what a person knows: $6 tries as seen, $7 the end, 2 (it was sent) or 8 (it was not), $8 who, $9 why, $10 the
-- provider's own id of the message, when it is known, $11 and $12 the buckets of the caps per order and per recipient. Only unknown
-- outcomes, and, as sent, what would be tried again after one.
-- returns: ordinality (from 1) of each delivery that was settled
WITH settled AS (
    UPDATE deliveries d
    SET state = $7::int4, updated_at = now(), lookup_at = NULL, provider_id = coalesce($10::text, d.provider_id),
        reason = CASE WHEN $7::int4 = 8 THEN 'not sent, says ' || $8::text || ': ' || $9::text END
    FROM unnest($1::int4[], $2::uuid[], $3::int4[], $4::text[], $5::int4[], $6::int4[], $11::int4[], $12::int4[])
         WITH ORDINALITY u(b, n, c, tg, rd, t, o, r, i)
    WHERE d.bucket = ANY(ARRAY[u.b]) AND d.notification_id = u.n AND d.channel = u.c AND d.target = u.tg AND d.redrive = u.rd
      AND d.tries = u.t AND (d.state = 9 OR (d.state = 0 AND d.unknown_tries > 0 AND $7::int4 = 2))
    RETURNING u.i, d.bucket, d.channel, d.notification_id, d.redrive, d.target, d.tries, d.wire_at, u.o, u.r
), told AS (
    INSERT INTO attempts (bucket, channel, notification_id, redrive, step, outcome, claim_id, worker, target, detail,
                          provider_id, at)
    SELECT bucket, channel, notification_id, redrive, tries, CASE WHEN $7::int4 = 2 THEN 9 ELSE 10 END,
           '00000000-0000-0000-0000-000000000000', '00000000-0000-0000-0000-000000000000', target,
           $8::text || ': ' || $9::text, $10::text, now()
    FROM settled
), listed AS (
    DELETE FROM unknown_outcomes x USING settled s
    WHERE x.bucket = s.bucket AND x.notification_id = s.notification_id AND x.channel = s.channel AND x.target = s.target
      AND x.redrive = s.redrive
), held AS MATERIALIZED (
    -- Devices share a slot: one that surely did not arrive says nothing about the others. What was sent keeps its date.
    -- No key leads from a delivery to its slots, but to the buckets that they are in.
    SELECT x.bucket, x.cap, x.nth, s.bucket AS of_bucket, s.notification_id, s.channel, s.redrive
    FROM (SELECT s.*, unnest(ARRAY[s.o, s.r]) AS cap_bucket FROM settled s WHERE s.target = '') s
    CROSS JOIN LATERAL (
        SELECT y.bucket, y.cap, y.nth FROM cap_slots y
        WHERE $7::int4 <> 2 AND y.bucket = s.cap_bucket AND y.of_bucket = s.bucket
          AND y.notification_id = s.notification_id AND y.channel = s.channel AND y.redrive = s.redrive
        OFFSET 0) x
    ORDER BY x.bucket, x.cap, x.nth -- as claims take them
), given AS (
    DELETE FROM cap_slots x USING held h
    WHERE x.bucket = ANY(ARRAY[h.bucket]) AND x.cap = h.cap AND x.nth = h.nth AND x.of_bucket = h.of_bucket
      AND x.notification_id = h.notification_id AND x.channel = h.channel AND x.redrive = h.redrive
), audited AS (
    INSERT INTO audit (actor, action, object, reason, detail)
    SELECT $8::text, 'delivery.resolve',
           format('delivery/%s/%s/%s/%s', replace(notification_id::text, '-', ''), channel, target, redrive), $9::text,
           CASE WHEN $7::int4 = 2 THEN '{"as":"sent"}' ELSE '{"as":"not-sent"}' END
    FROM settled
)
SELECT i::int4 FROM settled
