-- Records how steps ended, each only if its delivery still is in that step: everything else hangs on the rows that were
-- really changed, so a record that is run again does nothing. $7 next state, $8 due again in so many milliseconds (NULL =
-- not), $9 an unknown try that another will follow, $10 reason, $11.. the attempt, $19 it says nothing about the message,
-- $20 another provider may take it, $21 its provider is asked first, whose "not found" counts after so many milliseconds (NULL
-- = not), $22 its claim, $23 the worker. Arrays are unnested in a select list: in FROM each would be stored by itself first.
-- returns: ordinality (from 1) of each result that was recorded
WITH moved AS (
    UPDATE deliveries d
    SET state = u.st, reason = u.rs, updated_at = now(),
        unknown_tries = d.unknown_tries + u.un::int4,
        lookup_at = now() + u.se * interval '1 millisecond',
        doubt_at = CASE WHEN u.oc = 4 THEN coalesce(d.doubt_at, d.wire_at) ELSE d.doubt_at END,
        provider_id = coalesce(u.pi, d.provider_id),
        free_tries = d.free_tries + u.fr::int4,
        passed_on = u.po,
        -- Given back (5): the claim counted a possible duplicate for a try that never was.
        possible_duplicates = d.possible_duplicates - (u.oc = 5 AND d.unknown_tries > 0)::int4
    FROM (SELECT unnest($1::int4[]) AS b, unnest($2::uuid[]) AS n, unnest($3::int4[]) AS c, unnest($4::text[]) AS tg,
                 unnest($5::int4[]) AS rd, unnest($6::int4[]) AS t, unnest($7::int4[]) AS st, unnest($8::int8[]) AS ms,
                 unnest($9::bool[]) AS un, unnest($10::text[]) AS rs, unnest($11::int4[]) AS oc, unnest($12::int4[]) AS lv,
                 unnest($13::int4[]) AS cd, unnest($14::int4[]) AS wm, unnest($15::bool[]) AS pd, unnest($16::text[]) AS en,
                 unnest($17::text[]) AS dt, unnest($18::text[]) AS pi, unnest($19::bool[]) AS fr, unnest($20::bool[]) AS po,
                 unnest($21::int8[]) AS se, unnest($22::uuid[]) AS cl, generate_subscripts($1::int4[], 1) AS i) u
    WHERE d.bucket = ANY(ARRAY[u.b]) AND d.notification_id = u.n AND d.channel = u.c AND d.target = u.tg AND d.redrive = u.rd
      AND d.tries = u.t AND d.state = 1
    RETURNING u.*, d.lane, d.provider -- all of u: to join it again would compare every row with every other
), attempted AS (
    INSERT INTO attempts (slot, bucket, channel, notification_id, redrive, step, outcome, level, code, wire_ms,
                          possible_duplicate, claim_id, worker, target, enhanced, detail, provider_id, provider, at)
    SELECT (SELECT ring_slot(now(), 691200)), b, c, n, rd, t, oc, lv, cd, wm, pd, cl, $23::uuid, tg, en, dt, pi, provider, now() FROM moved
), again AS (
    INSERT INTO due (bucket, lane, due_at, notification_id, channel, redrive, tries, target)
    SELECT b, CASE WHEN se IS NULL THEN lane ELSE lane / 10 * 10 + 9 END, now() + ms * interval '1 millisecond', n, c, rd, t, tg
    FROM moved WHERE ms IS NOT NULL
), doubtful AS (
    INSERT INTO unknown_outcomes (bucket, channel, notification_id, redrive, target, since)
    SELECT b, c, n, rd, tg, now() FROM moved WHERE st = 9
    ON CONFLICT DO NOTHING
)
SELECT i FROM moved
