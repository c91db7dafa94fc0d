-- Moves the (locked) deliveries to where receipts brought them; the guard repeats what they were judged at. $5 state and $6
-- tries they had, $7 the next state, $8 due again in so many milliseconds (NULL = not), $9 how the try on the wire ended
-- (NULL = its record is there): its worker's own record comes too late and finds nothing to do. Of one that was due, a try in
-- doubt is none any more: it is known to have failed, or to have been taken.
-- returns: nothing
WITH u AS MATERIALIZED (
    -- The target as a column: a constant invites a walk over all of an index.
    SELECT x.*, ''::text AS tg
    FROM unnest($1::int4[], $2::uuid[], $3::int4[], $4::int4[], $5::int4[], $6::int4[], $7::int4[], $8::int8[], $9::int4[],
                $10::text[], $11::text[]) x(b, n, c, rd, s0, t, st, ms, oc, pi, rs)
), moved AS (
    UPDATE deliveries d
    SET state = u.st, reason = u.rs, updated_at = now(), lookup_at = NULL, not_before = now() + u.ms * interval '1 millisecond',
        provider_id = coalesce(u.pi, d.provider_id),
        unknown_tries = d.unknown_tries - (u.s0 = 0 AND u.st IN (0, 2) AND d.unknown_tries > 0)::int4,
        doubt_at = CASE WHEN u.s0 = 0 AND u.st IN (0, 2) AND d.unknown_tries = 1 THEN NULL ELSE d.doubt_at END
    FROM u
    WHERE d.bucket = ANY(ARRAY[u.b]) AND d.notification_id = u.n AND d.channel = u.c AND d.target = u.tg AND d.redrive = u.rd
      AND d.state = u.s0 AND d.tries = u.t
    RETURNING u.*, d.lane, d.unknown_tries
), settled AS (
    DELETE FROM unknown_outcomes x USING moved m
    WHERE m.s0 = 9 AND x.bucket = ANY(ARRAY[m.b]) AND x.notification_id = m.n AND x.channel = m.c AND x.target = m.tg
      AND x.redrive = m.rd
), attempted AS (
    INSERT INTO attempts (bucket, channel, notification_id, redrive, step, outcome, possible_duplicate, claim_id, worker,
                          target, detail, provider_id, at)
    SELECT b, c, n, rd, t, oc, unknown_tries > 0, '00000000-0000-0000-0000-000000000000',
           '00000000-0000-0000-0000-000000000000', '', 'told by a receipt', pi, now()
    FROM moved WHERE oc IS NOT NULL
)
INSERT INTO due (bucket, lane, due_at, notification_id, channel, redrive, tries, target)
SELECT b, lane, now() + ms * interval '1 millisecond', n, c, rd, t, '' FROM moved WHERE ms IS NOT NULL
