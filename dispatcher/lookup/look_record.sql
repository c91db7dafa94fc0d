-- Records what providers said, each only while its delivery waits for that: $6 tries, $7 outcome, $8 next state, $9 due in so
-- many milliseconds (NULL = not), $10 to be looked up again (else sent), $11 reason, $12 code, $13 detail, $14 the provider's
-- id, $15 claim, $16 worker. One that ended as unknown meanwhile (a newer message, a person) is not due again by what was not found.
-- returns: ordinality (from 1) of each that was recorded
WITH u AS MATERIALIZED (
    SELECT * FROM unnest($1::int4[], $2::uuid[], $3::int4[], $4::text[], $5::int4[], $6::int4[], $7::int4[], $8::int4[],
                         $9::int8[], $10::bool[], $11::text[], $12::int4[], $13::text[], $14::text[])
         WITH ORDINALITY x(b, n, c, tg, rd, t, oc, st, ms, lk, rs, cd, dt, pi, i)
), moved AS (
    UPDATE deliveries d
    SET state = CASE WHEN u.st = 0 THEN d.state ELSE u.st END, updated_at = now(), provider_id = coalesce(u.pi, d.provider_id),
        reason = CASE WHEN u.st = 9 OR (u.st = 0 AND d.state = 9) THEN coalesce(u.rs, d.reason) END,
        lookup_at = CASE WHEN u.lk THEN d.lookup_at END
    FROM u
    WHERE d.bucket = ANY(ARRAY[u.b]) AND d.notification_id = u.n AND d.channel = u.c AND d.target = u.tg AND d.redrive = u.rd
      AND d.tries = u.t AND d.state IN (0, 9) AND d.lookup_at IS NOT NULL
    RETURNING u.*, d.lane, d.provider, d.state AS now
), told AS (
    INSERT INTO attempts (bucket, channel, notification_id, redrive, step, outcome, code, claim_id, worker, target, detail,
                          provider_id, provider, at)
    SELECT b, c, n, rd, t, oc, cd, $15::uuid, $16::uuid, tg, dt, pi, provider, now() FROM moved
), again AS (
    INSERT INTO due (bucket, lane, due_at, notification_id, channel, redrive, tries, target)
    SELECT b, CASE WHEN lk THEN lane / 10 * 10 + 9 ELSE lane END, now() + ms * interval '1 millisecond', n, c, rd, t, tg
    FROM moved WHERE ms IS NOT NULL AND (lk OR now = 0)
), listed AS (
    DELETE FROM unknown_outcomes x USING moved m
    WHERE m.now <> 9 AND x.bucket = ANY(ARRAY[m.b]) AND x.notification_id = m.n AND x.channel = m.c AND x.target = m.tg AND x.redrive = m.rd
)
SELECT i::int4 FROM moved
