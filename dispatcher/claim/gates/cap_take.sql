-- Takes cap slots for the members of a claim: all that a member needs, or none. One row a member ($1, from 1) and cap: $2 the
-- cap's place with that member, $3 its bucket, $4 its name, $5 most, $6 in so many milliseconds, $7.. the delivery, $11 it was
-- never on the wire. $12 spreads claims over free slots. Before cap_settle.sql: it is the last that waits for slots.
-- A delivery that a receipt about an earlier try ended is open while a claim of it is there: a later try may be on the wire.
-- A slot is used while it is held, and until in_ms after its date. What is used is read of committed rows alone: "full" is
-- never said because of a rival that may yet roll back, nor of a slot that is held though its delivery has ended. Slots are taken in
-- key order (of the primary key, that is by bytes), and nothing of other rows' order is locked before, so that claims wait for one
-- another in one direction only; who waited in vain is told "lost".
-- A join of two lists compares each row with each other (common/pg/setup.sql): lists meet in windows here, or as hashed NOT IN.
-- returns: a row for each cap that a member does not get, cap by cap: member, place, why (1 full, 2 more members of this claim
--   than free slots, 3 lost to another claim), rank within the cap from 0, held slots, ms until each dated one is free (rank 0)
WITH want AS MATERIALIZED (
    SELECT * FROM unnest($1::int4[], $2::int4[], $3::int4[], $4::text[], $5::int4[], $6::int8[], $7::int4[], $8::uuid[],
                         $9::int4[], $10::int4[], $11::bool[]) u(m, c, b, k, most, ms, ob, n, ch, rd, fresh)
), slot AS MATERIALIZED (
    SELECT c.b, c.k, s.nth, s.notification_id AS n, s.channel AS ch, s.redrive AS rd, s.taken_at, s.used_at,
           s.used_at IS NULL OR s.used_at + c.ms * interval '1 millisecond' >= now() AS used,
           s.used_at IS NULL AND NOT d.open AS ended, -- it is about to be settled
           (extract(epoch FROM s.used_at - now()) * 1000)::int8 + c.ms + 1 AS left_ms
    FROM (SELECT DISTINCT b, k, ms FROM want) c
    CROSS JOIN LATERAL (
        SELECT x.nth, x.of_bucket, x.notification_id, x.channel, x.redrive, x.taken_at, x.used_at FROM cap_slots x
        WHERE x.bucket = c.b AND x.cap = c.k
        OFFSET 0) s
    LEFT JOIN LATERAL (
        SELECT coalesce(bool_or(y.state IN (0, 1) OR CASE WHEN y.tries > 1 THEN EXISTS (
                   SELECT FROM claims c WHERE y.notification_id = ANY(c.n)) END), false) AS open FROM deliveries y
        WHERE y.bucket = s.of_bucket AND y.notification_id = s.notification_id AND y.channel = s.channel
          AND y.redrive = s.redrive
        OFFSET 0) d ON s.used_at IS NULL
), count AS MATERIALIZED (
    SELECT b, k, count(*)::int4 AS used, count(*) FILTER (WHERE NOT ended)::int4 AS sure, count(*) FILTER (WHERE used_at IS NULL)::int4 AS held,
           (array_agg(left_ms ORDER BY left_ms) FILTER (WHERE used_at IS NOT NULL))[1:64] AS free_ms
    FROM slot WHERE used GROUP BY b, k
), met AS MATERIALIZED (
    -- own: the slot that this delivery, or another device of its notification, has already, a held one first.
    SELECT x.*, first_value(nth) OVER unit AS own, first_value(used_at) OVER unit AS own_date, first_value(taken_at) OVER unit AS own_taken,
           first_value(used) OVER whole AS cap_used, first_value(sure) OVER whole AS cap_sure,
           first_value(held) OVER whole AS cap_held, first_value(free_ms) OVER whole AS cap_free
    FROM (SELECT 0 AS kind, b, k, NULL::uuid AS n, NULL::int4 AS ch, NULL::int4 AS rd, NULL::int4 AS nth, NULL::timestamptz AS used_at, NULL::timestamptz AS taken_at,
                 used, sure, held, free_ms, NULL::int4 AS m, NULL::int4 AS c, NULL::int4 AS most, NULL::int8 AS ms, NULL::int4 AS ob,
                 NULL::bool AS fresh FROM count
          UNION ALL
          SELECT 1, b, k, n, ch, rd, nth, used_at, taken_at, 0, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL FROM slot WHERE used
          UNION ALL
          SELECT 2, b, k, n, ch, rd, NULL, NULL, NULL, 0, 0, 0, NULL, m, c, most, ms, ob, fresh FROM want) x
    WINDOW unit AS (PARTITION BY b, k, n, ch, rd ORDER BY kind, used_at DESC, nth), whole AS (PARTITION BY b, k ORDER BY kind)
), asked AS MATERIALIZED (
    SELECT m, c, b, k, most, ms, ob, n, ch, rd, fresh, own, own_date, own_taken, cap_used AS used, cap_held AS held, cap_free AS free_ms, is_full,
           bool_or(is_full) OVER (PARTITION BY m) AS shut
    FROM (SELECT *, own IS NULL AND cap_sure >= most AS is_full FROM met WHERE kind = 2) x
), unit AS MATERIALIZED (
    -- r: the how manyeth new slot of its cap it needs; NULL = none.
    SELECT a.*, CASE WHEN new THEN dense_rank() OVER (PARTITION BY b, k, new ORDER BY n, ch, rd) END AS r
    FROM (SELECT *, own IS NULL AND NOT shut AS new FROM asked) a
), judged AS MATERIALIZED (
    SELECT *, NOT shut AND NOT bool_or(used + r > most IS TRUE) OVER (PARTITION BY m) AS open FROM unit
), free AS MATERIALIZED (
    -- Of the first used + wanted numbers at least as many as are wanted are free; some more keep claims apart.
    SELECT b, k, nth, row_number() OVER (PARTITION BY b, k ORDER BY (nth + $12::int4) % max(span), nth) AS r
    FROM (SELECT c.b, c.k, c.span, x.nth
          FROM (SELECT b, k, least(min(most), min(used) + max(r) + 4)::int4 AS span FROM unit WHERE r IS NOT NULL GROUP BY b, k) c
          CROSS JOIN LATERAL generate_series(0, c.span - 1) x(nth)
          UNION ALL
          SELECT b, k, NULL, nth FROM slot WHERE used) x
    GROUP BY b, k, nth HAVING bool_and(span IS NOT NULL)
), given AS MATERIALIZED (
    SELECT *, first_value(nth) OVER (PARTITION BY b, k, r ORDER BY m NULLS FIRST) AS new_nth
    FROM (SELECT b, k, r, nth, NULL::int4 AS m, NULL::int8 AS ms, NULL::int4 AS ob, NULL::uuid AS n, NULL::int4 AS ch, NULL::int4 AS rd
          FROM free
          UNION ALL
          SELECT b, k, r, own, m, ms, ob, n, ch, rd FROM judged
          -- A slot of its own is written too: one that has a date (of another device, or before a receipt reopened it) is held again,
          -- and a rival may be about to settle it, or to give it back, by what is no longer so.
          WHERE open) x
), grab AS MATERIALIZED (
    SELECT b, k, CASE WHEN r IS NULL THEN nth ELSE new_nth END AS nth, ms, ob, n, ch, rd
    FROM given WHERE m IS NOT NULL AND CASE WHEN r IS NULL THEN nth ELSE new_nth END IS NOT NULL
    GROUP BY 1, 2, 3, 4, 5, 6, 7, 8
), taken AS (
    INSERT INTO cap_slots AS s (bucket, cap, nth, of_bucket, notification_id, channel, redrive, taken_at, in_ms)
    SELECT b, k, nth, ob, n, ch, rd, now(), ms FROM grab ORDER BY b, k COLLATE "C", nth
    ON CONFLICT (bucket, cap, nth) DO UPDATE
    SET of_bucket = excluded.of_bucket, notification_id = excluded.notification_id, channel = excluded.channel,
        redrive = excluded.redrive, taken_at = excluded.taken_at, in_ms = excluded.in_ms, used_at = NULL
    WHERE s.used_at + s.in_ms * interval '1 millisecond' < now()
       OR (s.notification_id = excluded.notification_id AND s.channel = excluded.channel AND s.redrive = excluded.redrive)
    RETURNING bucket, cap, notification_id, channel, redrive
), waits AS MATERIALIZED (
    -- Who does not get all its slots gives back those of an earlier claim, unless it, or a device that shares them, was on the wire.
    SELECT a.b, a.k, a.own
    FROM (SELECT b, k, own, own_taken, ob, n, ch, rd FROM asked WHERE own IS NOT NULL AND own_date IS NULL
          GROUP BY 1, 2, 3, 4, 5, 6, 7, 8 HAVING bool_and(shut AND fresh)) a
    CROSS JOIN LATERAL (
        SELECT coalesce(bool_or(y.state <> 0 OR y.tries > 0), false) AS begun FROM deliveries y
        WHERE y.bucket = a.ob AND y.notification_id = a.n AND y.channel = a.ch AND y.redrive = a.rd
        OFFSET 0) d
    CROSS JOIN LATERAL (
        SELECT FROM cap_slots x
        WHERE x.bucket = a.b AND x.cap = a.k AND x.nth = a.own AND x.taken_at = a.own_taken AND x.used_at IS NULL
        FOR UPDATE SKIP LOCKED) s
    WHERE NOT d.begun
), dropped AS (
    DELETE FROM cap_slots s USING waits w WHERE s.bucket = ANY(ARRAY[w.b]) AND s.cap = w.k AND s.nth = w.own
), missed AS (
    SELECT m, c, b, k, held, free_ms,
           CASE WHEN is_full THEN 1
                WHEN NOT shut AND used + r > most THEN 2
                WHEN open AND (b, k, n, ch, rd) NOT IN (
                    SELECT bucket, cap, notification_id, channel, redrive FROM taken) THEN 3 END AS why
    FROM judged
), ranked AS MATERIALIZED (
    SELECT *, row_number() OVER (PARTITION BY b, k ORDER BY why, m, c)::int4 - 1 AS rank FROM missed WHERE why IS NOT NULL
)
SELECT m, c, why, rank, held, CASE WHEN rank = 0 THEN free_ms END FROM ranked ORDER BY b, k, rank
