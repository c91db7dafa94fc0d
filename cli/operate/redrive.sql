-- Sends anew: a new delivery of the same notification, with a key, tries and a cap slot of its own, under policy $13. Of what it
-- follows: $5 redrive, $6 state and $7 tries as seen; nothing is made if it changed, or if somebody was first. $8 delivery order,
-- $9 lane, $10 expires and $11 retries end in so many milliseconds (NULL = never), $12 who, $14 why.
-- returns: ordinality (from 1) of each delivery that was made
WITH made AS (
    INSERT INTO deliveries (bucket, channel, notification_id, redrive, state, delivery_order, lane, target, address, zone,
                            collapse, recipient, order_version, policy, created_at, updated_at, expires_at, retry_until)
    SELECT d.bucket, d.channel, d.notification_id, d.redrive + 1, 0, u.o, u.l, d.target, d.address, d.zone, d.collapse,
           d.recipient, d.order_version,
           $13::int4, now(), now(), now() + u.x * interval '1 millisecond', now() + u.y * interval '1 millisecond'
    FROM unnest($1::int4[], $2::uuid[], $3::int4[], $4::text[], $5::int4[], $6::int4[], $7::int4[], $8::int4[], $9::int4[],
                $10::int8[], $11::int8[]) u(b, n, c, tg, rd, st, t, o, l, x, y)
    JOIN deliveries d ON d.bucket = ANY(ARRAY[u.b]) AND d.notification_id = u.n AND d.channel = u.c AND d.target = u.tg
                     AND d.redrive = u.rd AND d.state = u.st AND d.tries = u.t
    ON CONFLICT DO NOTHING
    RETURNING bucket, channel, notification_id, redrive, target, lane
), again AS (
    INSERT INTO due (bucket, lane, due_at, notification_id, channel, redrive, tries, target)
    SELECT bucket, lane, now(), notification_id, channel, redrive, 0, target FROM made
), audited AS (
    INSERT INTO audit (actor, action, object, reason, detail)
    SELECT $12::text, 'delivery.redrive',
           format('delivery/%s/%s/%s/%s', replace(notification_id::text, '-', ''), channel, target, redrive), $14::text,
           format('{"policy":%s}', $13::int4)
    FROM made
)
SELECT u.i::int4
FROM unnest($1::int4[], $2::uuid[], $3::int4[], $4::text[], $5::int4[]) WITH ORDINALITY u(b, n, c, tg, rd, i)
-- IS TRUE: hashed, or else each row is compared with each other.
WHERE ((u.b, u.n, u.c, u.tg, u.rd + 1) IN (SELECT bucket, notification_id, channel, target, redrive FROM made)) IS TRUE
