-- Judges the members of the lease $1 that ran out and still are in the step it claimed: at most once (1) = unknown and
-- never sent again by itself; at least once (2) = due again, its next step is a possible duplicate. A statement after
-- the lock, so that it sees every record made before; members recorded or given back match no more.
-- returns: channel, delivery_order, count
WITH member AS MATERIALIZED (
    SELECT u.b, u.n, u.ch, u.tg, u.rd, u.t, x.worker
    FROM claims x, unnest(x.b, x.n, x.ch, x.tg, x.rd, x.t) u(b, n, ch, tg, rd, t)
    WHERE x.claim_id = $1::uuid
), judged AS (
    UPDATE deliveries d
    SET state = CASE WHEN d.delivery_order = 1 THEN 9 ELSE 0 END,
        unknown_tries = d.unknown_tries + (d.delivery_order <> 1)::int4, doubt_at = coalesce(d.doubt_at, d.wire_at),
        reason = CASE WHEN d.delivery_order = 1 THEN 'the worker was lost while it was on the wire' END,
        updated_at = now()
    FROM member m
    WHERE d.bucket = ANY(ARRAY[m.b]) AND d.notification_id = m.n AND d.channel = m.ch AND d.target = m.tg AND d.redrive = m.rd
      AND d.tries = m.t AND d.state = 1
    RETURNING d.bucket, d.channel, d.notification_id, d.redrive, d.target, d.tries, d.lane, d.delivery_order, m.worker, d.provider,
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
    SELECT bucket, lane, now(), notification_id, channel, redrive, tries, target FROM judged WHERE delivery_order <> 1
)
SELECT channel, delivery_order, count(*)::int4 FROM judged GROUP BY channel, delivery_order
