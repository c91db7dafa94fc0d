-- Ends deliveries that may not or can't be sent any more ($7: state, $8: why). What may have been taken becomes unknown (9), and
-- no receipt makes it due again: its time for tries is over.
-- returns: ordinality (from 1) of each delivery that was ended
WITH ended AS (
    UPDATE deliveries d
    SET state = u.s, reason = u.r, updated_at = now(), retry_until = CASE WHEN u.s = 9 THEN now() ELSE d.retry_until END
    FROM unnest($1::int4[], $2::uuid[], $3::int4[], $4::text[], $5::int4[], $6::int4[], $7::int4[], $8::text[])
         WITH ORDINALITY u(b, n, c, tg, rd, t, s, r, i)
    WHERE d.bucket = ANY(ARRAY[u.b]) AND d.notification_id = u.n AND d.channel = u.c AND d.target = u.tg AND d.redrive = u.rd
      AND d.tries = u.t AND d.state = 0
    RETURNING u.i, d.bucket, d.channel, d.notification_id, d.redrive, d.target, d.state
), doubtful AS (
    INSERT INTO unknown_outcomes (bucket, channel, notification_id, redrive, target, since)
    SELECT bucket, channel, notification_id, redrive, target, now() FROM ended WHERE state = 9
    ON CONFLICT DO NOTHING
)
SELECT i::int4 FROM ended
