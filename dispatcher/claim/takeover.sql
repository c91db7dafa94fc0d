-- Judges the members of the lease $1 that ran out and still are in the step it claimed: at most once (1) = unknown and
-- never sent again by itself; at least once (2) = due again, its next step is a possible duplicate. A statement after
-- the lock, so that it sees every record made before; members recorded or given back match no more.
-- Where the provider can be asked ($2 channels, $3 names, $4 after how many milliseconds its "not found" counts), that is done
-- first. Members of a round of look-ups are to be looked up again.
-- returns: channel, delivery_order, count
WITH member AS MATERIALIZED (
    SELECT u.b, u.n, u.ch, u.tg, u.rd, u.t, x.worker, x.lookup
    FROM claims x, unnest(x.b, x.n, x.ch, x.tg, x.rd, x.t) u(b, n, ch, tg, rd, t)
    WHERE x.claim_id = $1::uuid
), judged AS (
    UPDATE deliveries d
    SET state = CASE WHEN d.delivery_order = 1 THEN 9 ELSE 0 END,
        unknown_tries = d.unknown_tries + (d.delivery_order <> 1)::int4, doubt_at = coalesce(d.doubt_at, d.wire_at),
        lookup_at = now() + (SELECT k.ms FROM unnest($2::int4[], $3::text[], $4::int8[]) k(c, p, ms)
                             WHERE k.c = d.channel AND k.p = d.provider LIMIT 1) * interval '1 millisecond',
        reason = CASE WHEN d.delivery_order = 1 THEN 'the worker was lost while it was on the wire' END,
        updated_at = now()
    FROM member m
    WHERE d.bucket = ANY(ARRAY[m.b]) AND d.notification_id = m.n AND d.channel = m.ch AND d.target = m.tg AND d.redrive = m.rd
      AND d.tries = m.t AND d.state = 1
    RETURNING d.bucket, d.channel, d.notification_id, d.redrive, d.target, d.tries, d.lane, d.delivery_order, m.worker, d.provider,
              d.lookup_at,
              d.unknown_tries - (d.delivery_order <> 1)::int4 AS earlier
), attempted AS (
    INSERT INTO attempts (bucket, channel, notification_id, redrive, step, outcome, possible_duplicate, claim_id, worker,
                          target, detail, provider, at)
    SELECT bucket, channel, notification_id, redrive, tries, 4, earlier > 0, $1::uuid, worker, target,
           'the lease ran out', provider, now()
    FROM judged
), doubtful AS (
    INSERT INTO unknown_outcomes (bucket, channel, notification_id, redrive, target, since)
    SELECT bucket, channel, notification_id, redrive, target, now() FROM judged WHERE delivery_order = 1
    ON CONFLICT DO NOTHING
), again AS (
    INSERT INTO due (bucket, lane, due_at, notification_id, channel, redrive, tries, target)
    SELECT bucket, CASE WHEN lookup_at IS NULL THEN lane ELSE lane / 10 * 10 + 9 END, now(), notification_id, channel, redrive, tries,
           target
    FROM judged WHERE delivery_order <> 1 OR lookup_at IS NOT NULL
), looks AS (
    INSERT INTO due (bucket, lane, due_at, notification_id, channel, redrive, tries, target)
    SELECT d.bucket, d.lane / 10 * 10 + 9, now(), d.notification_id, d.channel, d.redrive, d.tries, d.target
    FROM member m
    JOIN deliveries d ON d.bucket = ANY(ARRAY[m.b]) AND d.notification_id = m.n AND d.channel = m.ch AND d.target = m.tg AND d.redrive = m.rd
                     AND d.tries = m.t AND d.state IN (0, 9) AND d.lookup_at IS NOT NULL
    WHERE m.lookup
)
SELECT channel, delivery_order, count(*)::int4 FROM judged GROUP BY channel, delivery_order
