-- Judges the members of a claim that have a collapse id ($1.. their names): one that a newer message of its id and channel
-- followed ends as superseded; of one that is the newest, all older ones end so, and it waits while one of these is on the
-- wire or in another claim's hands. Newer: of a later version of the order, then made later. A redrive is a person's will:
-- it neither ends by this nor ends others.
-- Every row is locked by who gets it first, nobody waits: an older one can't go on the wire beside this claim, since its own
-- claim needs its lock too. After an unknown try nobody knows whether it arrived: then the end is unknown (9).
-- A join of two lists compares each row with each other (common/pg/setup.sql): lists meet in windows here, or as hashed IN.
-- returns: member (from 1; 0 = not in this claim), channel, state it ended in (-1 = it has to wait)
WITH me AS MATERIALIZED (
    SELECT u.i, u.b, u.n, u.ch, u.tg, d.collapse
    FROM unnest($1::int4[], $2::uuid[], $3::int4[], $4::text[], $5::int4[]) WITH ORDINALITY u(b, n, ch, tg, rd, i)
    CROSS JOIN LATERAL (
        SELECT x.collapse FROM deliveries x
        WHERE x.bucket = u.b AND x.notification_id = u.n AND x.channel = u.ch AND x.target = u.tg AND x.redrive = u.rd
          AND x.redrive = 0
        OFFSET 0) d
    WHERE d.collapse IS NOT NULL -- out here, or else their index is read instead of the key
), kin AS MATERIALIZED (
    -- All of an id and channel, each read once: i, its number in this claim; old, there is a newer one. What one move made is
    -- of one version and moment.
    SELECT g.b, g.collapse, k.*, rank() OVER (PARTITION BY g.b, g.collapse, k.ch ORDER BY k.version DESC, k.at DESC) > 1 AS old
    FROM (SELECT DISTINCT b, collapse, ch FROM me) g
    CROSS JOIN LATERAL (
        SELECT x.channel AS ch, x.notification_id AS n, x.target AS tg, x.state, x.order_version AS version, x.created_at AS at,
               -- A receipt about an earlier try ended it: a later one may be on the wire.
               x.state > 1 AND CASE WHEN x.tries > 1 THEN EXISTS (SELECT FROM claims c WHERE x.notification_id = ANY(c.n))
                                    ELSE false END AS flies
        FROM deliveries x
        WHERE x.bucket = g.b AND x.collapse = g.collapse AND x.channel = g.ch AND x.redrive = 0
        OFFSET 0) k
), family AS MATERIALIZED (
    SELECT *
    FROM (SELECT b, collapse, n, ch, tg, state, flies, old, max(i) OVER (PARTITION BY b, n, ch, tg) AS i
          FROM (SELECT b, collapse, n, ch, tg, state, flies, old, NULL::int8 AS i FROM kin
                UNION ALL
                SELECT b, collapse, n, ch, tg, NULL, NULL, NULL, i FROM me) x) y
    WHERE state IS NOT NULL
), locked AS MATERIALIZED (
    SELECT f.b, f.n, f.ch, f.tg, f.i, f.old, d.rd
    FROM (SELECT * FROM family WHERE i IS NOT NULL OR (old AND state = 0)) f
    CROSS JOIN LATERAL (
        SELECT x.redrive AS rd FROM deliveries x
        WHERE x.bucket = f.b AND x.notification_id = f.n AND x.channel = f.ch AND x.target = f.tg AND x.redrive = 0
          AND x.state = 0
        FOR UPDATE SKIP LOCKED) d
), ended AS (
    UPDATE deliveries d
    SET state = CASE WHEN d.unknown_tries > 0 THEN 9 ELSE 6 END,
        reason = CASE WHEN d.unknown_tries > 0 THEN 'a newer message took its place after a try whose outcome is unknown'
                      ELSE 'a newer message took its place' END,
        -- No receipt makes it due again: its time for tries is over.
        retry_until = CASE WHEN d.unknown_tries > 0 THEN now() ELSE d.retry_until END, updated_at = now()
    FROM locked l
    WHERE l.old AND d.bucket = ANY(ARRAY[l.b]) AND d.notification_id = l.n AND d.channel = l.ch AND d.target = l.tg
      AND d.redrive = l.rd
    RETURNING d.bucket AS b, d.notification_id AS n, d.channel AS ch, d.target AS tg, d.state, l.i
), doubtful AS (
    INSERT INTO unknown_outcomes (bucket, channel, notification_id, redrive, target, since)
    SELECT b, ch, n, 0, tg, now() FROM ended WHERE state = 9
    ON CONFLICT DO NOTHING
), left_over AS MATERIALIZED (
    -- in_hand: it is locked by this claim; behind: an older one may still be on its way.
    SELECT i, ch, (b, n, ch, tg) IN (SELECT b, n, ch, tg FROM locked) AS in_hand,
           bool_or(old AND (state IN (0, 1) OR flies)) OVER (PARTITION BY b, collapse, ch) AS behind
    FROM family
    WHERE (b, n, ch, tg) NOT IN (SELECT b, n, ch, tg FROM ended)
)
SELECT coalesce(i, 0)::int4, ch, state FROM ended
UNION ALL
SELECT i::int4, ch, -1 FROM left_over WHERE i IS NOT NULL AND (NOT in_hand OR behind)
