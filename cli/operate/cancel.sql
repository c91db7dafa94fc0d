-- Ends what waits: $6 tries as seen, $7 who, $8 why. What may have been taken already becomes unknown, not cancelled; a
-- look-up that it waits for goes on, and no receipt makes it due again: its time for tries is over. Rows of `due` stay: a claim drops those whose delivery has an end.
-- returns: ordinality (from 1) of each delivery that was ended, its state now
WITH ended AS (
    UPDATE deliveries d
    SET state = CASE WHEN d.unknown_tries > 0 THEN 9 ELSE 7 END, updated_at = now(),
        lookup_at = CASE WHEN d.unknown_tries > 0 THEN d.lookup_at END,
        retry_until = CASE WHEN d.unknown_tries > 0 THEN now() ELSE d.retry_until END,
        reason = CASE WHEN d.unknown_tries > 0 THEN 'cancelled after a try whose outcome is unknown, by '
                 ELSE 'cancelled by ' END || $7::text || ': ' || $8::text
    FROM unnest($1::int4[], $2::uuid[], $3::int4[], $4::text[], $5::int4[], $6::int4[]) WITH ORDINALITY u(b, n, c, tg, rd, t, i)
    WHERE d.bucket = ANY(ARRAY[u.b]) AND d.notification_id = u.n AND d.channel = u.c AND d.target = u.tg AND d.redrive = u.rd
      AND d.tries = u.t AND d.state = 0
    RETURNING u.i, d.bucket, d.channel, d.notification_id, d.redrive, d.target, d.state
), doubtful AS (
    INSERT INTO unknown_outcomes (bucket, channel, notification_id, redrive, target, since)
    SELECT bucket, channel, notification_id, redrive, target, now() FROM ended WHERE state = 9
    ON CONFLICT DO NOTHING
), audited AS (
    INSERT INTO audit (actor, action, object, reason)
    SELECT $7::text, 'delivery.cancel',
           format('delivery/%s/%s/%s/%s', replace(notification_id::text, '-', ''), channel, target, redrive), $8::text
    FROM ended
)
SELECT i::int4, state FROM ended
