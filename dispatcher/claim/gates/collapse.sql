-- Judges the members of a claim that have a collapse id ($1.. their names): one that a newer message of its id and channel
-- followed ends as superseded; of one that is the newest, all older ones end so, and it waits while one of these is on the
-- wire or in another claim's hands. Newer: of a later version of the order, then made later. A redrive is a person's will:
-- it neither ends by this nor ends others.
-- Every row is locked by who gets it first, nobody waits: an older one can't go on the wire beside this claim, since its own
-- claim needs its lock too. After an unknown try nobody knows whether it arrived: then the end is unknown (9).
-- returns: member (from 1; 0 = not in this claim), channel, state it ended in (-1 = it has to wait)
WITH me AS MATERIALIZED (
    SELECT u.i, u.b, u.n, u.ch, u.tg, u.rd, d.collapse, d.order_version, d.created_at
    FROM unnest($1::int4[], $2::uuid[], $3::int4[], $4::text[], $5::int4[]) WITH ORDINALITY u(b, n, ch, tg, rd, i)
    CROSS JOIN LATERAL (
        SELECT x.collapse, x.order_version, x.created_at FROM deliveries x
        WHERE x.bucket = u.b AND x.notification_id = u.n AND x.channel = u.ch AND x.target = u.tg AND x.redrive = u.rd
          AND x.redrive = 0 AND x.collapse IS NOT NULL
        OFFSET 0) d
), kin AS MATERIALIZED (
    SELECT me.i, k.*, (k.order_version, k.created_at) > (me.order_version, me.created_at) AS newer
    FROM me
    CROSS JOIN LATERAL (
        SELECT x.bucket AS b, x.notification_id AS n, x.channel AS ch, x.target AS tg, x.state, x.order_version, x.created_at
        FROM deliveries x
        WHERE x.bucket = me.b AND x.collapse = me.collapse AND x.channel = me.ch AND x.redrive = 0
          AND x.notification_id <> me.n
          AND (x.order_version, x.created_at) IS DISTINCT FROM (me.order_version, me.created_at)
        OFFSET 0) k
), candidate AS MATERIALIZED (
    SELECT b, n, ch, tg, bool_or(old) AS old
    FROM (SELECT b, n, ch, tg, EXISTS (SELECT FROM kin WHERE kin.i = me.i AND kin.newer) AS old FROM me
          UNION ALL
          SELECT b, n, ch, tg, true FROM kin WHERE NOT newer AND state = 0) x
    GROUP BY b, n, ch, tg
), locked AS MATERIALIZED (
    SELECT c.b, c.n, c.ch, c.tg, d.rd, c.old
    FROM candidate c
    CROSS JOIN LATERAL (
        SELECT x.redrive AS rd FROM deliveries x
        WHERE x.bucket = c.b AND x.notification_id = c.n AND x.channel = c.ch AND x.target = c.tg AND x.redrive = 0
          AND x.state = 0
        FOR UPDATE SKIP LOCKED) d
), ended AS (
    UPDATE deliveries d
    SET state = CASE WHEN d.unknown_tries > 0 THEN 9 ELSE 6 END,
        reason = CASE WHEN d.unknown_tries > 0 THEN 'a newer message took its place after a try whose outcome is unknown'
                      ELSE 'a newer message took its place' END,
        updated_at = now()
    FROM locked l
    WHERE l.old AND d.bucket = ANY(ARRAY[l.b]) AND d.notification_id = l.n AND d.channel = l.ch AND d.target = l.tg
      AND d.redrive = l.rd
    RETURNING d.bucket AS b, d.notification_id AS n, d.channel AS ch, d.target AS tg, d.state
), doubtful AS (
    INSERT INTO unknown_outcomes (bucket, channel, notification_id, redrive, target, since)
    SELECT b, ch, n, 0, tg, now() FROM ended WHERE state = 9
    ON CONFLICT DO NOTHING
)
SELECT coalesce(me.i, 0)::int4, e.ch, e.state
FROM ended e LEFT JOIN me ON me.b = e.b AND me.n = e.n AND me.ch = e.ch AND me.tg = e.tg
UNION ALL
SELECT me.i::int4, me.ch, -1
FROM me
WHERE NOT EXISTS (SELECT FROM ended e WHERE e.b = me.b AND e.n = me.n AND e.ch = me.ch AND e.tg = me.tg)
  AND (NOT EXISTS (SELECT FROM locked l WHERE l.b = me.b AND l.n = me.n AND l.ch = me.ch AND l.tg = me.tg)
       OR EXISTS (SELECT FROM kin k
                  WHERE k.i = me.i AND NOT k.newer AND k.state IN (0, 1)
                    AND NOT EXISTS (SELECT FROM ended e WHERE e.b = k.b AND e.n = k.n AND e.ch = k.ch AND e.tg = k.tg)))
