-- Takes cap slots for the members of a claim: all that a member needs, or none. One row a member ($1, from 1) and cap: $2 the
-- cap's place with that member, $3 its bucket, $4 its name, $5 most, $6 in so many milliseconds, $7.. the delivery, $11 it was
-- never on the wire. $12 spreads claims over free slots. After cap_settle.sql, in a statement of its own.
-- A slot is used while it is held, and until in_ms after its date. What is used is read of committed rows alone: "full" is
-- never said because of a rival that may yet roll back. Slots are taken in key order, so that claims wait for one another
-- in one direction only; who waited in vain is told "lost".
-- returns: a row for each cap that a member does not get, cap by cap: member, place, why (1 full, 2 more members of this claim
--   than free slots, 3 lost to another claim), rank within the cap from 0, held slots, ms until each dated one is free (rank 0)
WITH want AS MATERIALIZED (
    SELECT * FROM unnest($1::int4[], $2::int4[], $3::int4[], $4::text[], $5::int4[], $6::int8[], $7::int4[], $8::uuid[],
                         $9::int4[], $10::int4[], $11::bool[]) u(m, c, b, k, most, ms, ob, n, ch, rd, fresh)
), slot AS MATERIALIZED (
    SELECT c.b, c.k, s.nth, s.notification_id AS n, s.channel AS ch, s.redrive AS rd, s.used_at,
           s.used_at IS NULL OR s.used_at + c.ms * interval '1 millisecond' >= now() AS used,
           s.used_at IS NULL AND NOT d.open AS ended, -- a rival is about to settle it
           (extract(epoch FROM s.used_at - now()) * 1000)::int8 + c.ms + 1 AS left_ms
    FROM (SELECT DISTINCT b, k, ms FROM want) c
    CROSS JOIN LATERAL (
        SELECT x.nth, x.of_bucket, x.notification_id, x.channel, x.redrive, x.used_at FROM cap_slots x
        WHERE x.bucket = c.b AND x.cap = c.k
        OFFSET 0) s
    LEFT JOIN LATERAL (
        SELECT coalesce(bool_or(y.state IN (0, 1)), false) AS open FROM deliveries y
        WHERE y.bucket = s.of_bucket AND y.notification_id = s.notification_id AND y.channel = s.channel
          AND y.redrive = s.redrive
        OFFSET 0) d ON s.used_at IS NULL
), count AS MATERIALIZED (
    SELECT b, k, count(*)::int4 AS used, count(*) FILTER (WHERE NOT ended)::int4 AS sure, count(*) FILTER (WHERE used_at IS NULL)::int4 AS held,
           (array_agg(left_ms ORDER BY left_ms) FILTER (WHERE used_at IS NOT NULL))[1:64] AS free_ms
    FROM slot WHERE used GROUP BY b, k
), asked AS MATERIALIZED (
    -- own: the slot that this delivery, or another device of its notification, has already.
    SELECT w.*, o.nth AS own, o.used_at AS own_date, coalesce(c.used, 0) AS used,
           o.nth IS NULL AND coalesce(c.sure, 0) >= w.most AS is_full
    FROM want w
    LEFT JOIN slot o ON o.b = w.b AND o.k = w.k AND o.n = w.n AND o.ch = w.ch AND o.rd = w.rd AND o.used
    LEFT JOIN count c ON c.b = w.b AND c.k = w.k
), shut AS MATERIALIZED (
    SELECT m FROM asked WHERE is_full GROUP BY m
), unit AS MATERIALIZED (
    SELECT a.b, a.k, a.n, a.ch, a.rd, a.most, a.used,
           row_number() OVER (PARTITION BY a.b, a.k ORDER BY a.n, a.ch, a.rd) AS r
    FROM asked a
    WHERE a.own IS NULL AND a.m NOT IN (SELECT m FROM shut)
    GROUP BY a.b, a.k, a.n, a.ch, a.rd, a.most, a.used
), crowd AS MATERIALIZED (
    SELECT a.m, a.c FROM asked a
    JOIN unit u ON u.b = a.b AND u.k = a.k AND u.n = a.n AND u.ch = a.ch AND u.rd = a.rd
    WHERE u.used + u.r > u.most AND a.m NOT IN (SELECT m FROM shut)
), open AS MATERIALIZED (
    SELECT a.* FROM asked a WHERE a.m NOT IN (SELECT m FROM shut UNION ALL SELECT m FROM crowd)
), free AS MATERIALIZED (
    -- Of the first used + wanted numbers at least as many as are wanted are free; some more keep claims apart.
    SELECT c.b, c.k, x.nth, row_number() OVER (PARTITION BY c.b, c.k ORDER BY (x.nth + $12::int4) % c.span, x.nth) AS r
    FROM (SELECT b, k, least(min(most), min(used) + max(r) + 4)::int4 AS span FROM unit GROUP BY b, k) c
    CROSS JOIN LATERAL generate_series(0, c.span - 1) x(nth)
    WHERE NOT EXISTS (SELECT FROM slot s WHERE s.b = c.b AND s.k = c.k AND s.nth = x.nth AND s.used)
), grab AS MATERIALIZED (
    SELECT o.b, o.k, coalesce(o.own, f.nth) AS nth, o.ms, o.ob, o.n, o.ch, o.rd
    FROM open o
    LEFT JOIN unit u ON u.b = o.b AND u.k = o.k AND u.n = o.n AND u.ch = o.ch AND u.rd = o.rd
    LEFT JOIN free f ON f.b = u.b AND f.k = u.k AND f.r = u.r
    -- A slot of its own that has a date (of another device, or before a receipt reopened it) is held again.
    WHERE (o.own IS NULL OR o.own_date IS NOT NULL) AND coalesce(o.own, f.nth) IS NOT NULL
    GROUP BY 1, 2, 3, 4, 5, 6, 7, 8
), taken AS (
    INSERT INTO cap_slots AS s (bucket, cap, nth, of_bucket, notification_id, channel, redrive, taken_at, in_ms)
    SELECT b, k, nth, ob, n, ch, rd, now(), ms FROM grab ORDER BY b, k, nth
    ON CONFLICT (bucket, cap, nth) DO UPDATE
    SET of_bucket = excluded.of_bucket, notification_id = excluded.notification_id, channel = excluded.channel,
        redrive = excluded.redrive, taken_at = excluded.taken_at, in_ms = excluded.in_ms, used_at = NULL
    WHERE s.used_at + s.in_ms * interval '1 millisecond' < now()
       OR (s.notification_id = excluded.notification_id AND s.channel = excluded.channel AND s.redrive = excluded.redrive)
    RETURNING bucket, cap, notification_id, channel, redrive
), dropped AS (
    -- Slots of an earlier claim that got not all of them: a delivery that now waits or ends does not keep them. Where devices
    -- share one it stays, since another of them may be on the wire.
    DELETE FROM cap_slots s USING asked a
    WHERE s.bucket = ANY(ARRAY[a.b]) AND s.cap = a.k AND s.nth = a.own AND s.notification_id = a.n AND s.channel = a.ch
      AND s.redrive = a.rd AND a.fresh AND s.used_at IS NULL AND a.m IN (SELECT m FROM shut)
      AND (SELECT count(*) FROM deliveries y
           WHERE y.bucket = a.ob AND y.notification_id = a.n AND y.channel = a.ch AND y.redrive = a.rd) = 1
), missed AS (
    SELECT m, c, b, k, 1 AS why FROM asked WHERE is_full
    UNION ALL
    SELECT c.m, c.c, a.b, a.k, 2 FROM crowd c JOIN asked a ON a.m = c.m AND a.c = c.c
    UNION ALL
    SELECT o.m, o.c, o.b, o.k, 3 FROM open o
    WHERE (o.own IS NULL OR o.own_date IS NOT NULL)
      AND NOT EXISTS (SELECT FROM taken t WHERE t.bucket = o.b AND t.cap = o.k AND t.notification_id = o.n
                                            AND t.channel = o.ch AND t.redrive = o.rd)
), ranked AS MATERIALIZED (
    SELECT *, row_number() OVER (PARTITION BY b, k ORDER BY why, m, c)::int4 - 1 AS rank FROM missed
)
SELECT x.m, x.c, x.why, x.rank, coalesce(c.held, 0), CASE WHEN x.rank = 0 THEN c.free_ms END
FROM ranked x LEFT JOIN count c ON c.b = x.b AND c.k = x.k
ORDER BY x.b, x.k, x.rank
