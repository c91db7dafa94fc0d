-- Judges copies that did not take their key against the row that did, in a statement of its own: it sees what the
-- insert waited for. A copy whose own arrival holds the key is a transaction run again, not a repeat.
-- $1 $2 $3: live slots, newest first (-1 = none). A key may be in two of them: the row in the newest counts, once, for a
-- copy that won an older slot and lost the newest is not the first. $12: another member of the same arrival had the key
-- before, so this one is a repeat. $13: an earlier try of this batch may have been committed, so look whether a copy is in
-- repeats already.
-- returns: n int (index of the copy), outcome int (1 own, 2 duplicate, 3 mismatch), age bigint in microseconds, known boolean
--   (it is in repeats already), order_id text (that the first was read with)
WITH seen AS MATERIALIZED (
    SELECT DISTINCT ON (u.n) u.n, u.b, u.s, u.e, u.sc, u.a, u.k, k.order_id,
           CASE WHEN k.arrival = u.a AND NOT u.x THEN 1 WHEN k.fp = u.f THEN 2 ELSE 3 END AS outcome,
           greatest(clock_timestamp() - k.first_at, interval '0') AS age,
           $13::bool AND EXISTS (SELECT 1 FROM repeats r
                                 WHERE r.bucket = u.b AND r.event_id = u.e COLLATE "C" AND r.arrival = u.a) AS known
    FROM unnest($4::int4[], $5::int4[], $6::int4[], $7::text[], $8::text[], $9::bytea[], $10::uuid[], $11::text[],
                $12::bool[]) u(n, b, s, e, sc, f, a, k, x)
    CROSS JOIN LATERAL ( -- with OFFSET 0 a probe of the key for each copy, as orders_lock.sql says
        SELECT x.slot, x.arrival, x.fp, x.first_at, x.order_id FROM keys x
        WHERE x.slot IN ($1::int4, $2::int4, $3::int4) AND x.bucket = u.b AND x.event_id = u.e COLLATE "C"
          AND x.source = u.s AND x.scope = u.sc COLLATE "C"
        OFFSET 0) k
    ORDER BY u.n, k.slot = $1::int4 DESC, k.slot = $2::int4 DESC
), kept AS (
    INSERT INTO repeats (bucket, source, outcome, event_id, scope, arrival, age, at, secret)
    SELECT b, s, outcome, e, sc, a, age, clock_timestamp(), k FROM seen
    WHERE outcome > 1 AND NOT known
)
SELECT n, outcome, (extract(epoch FROM age) * 1000000)::bigint, known, order_id FROM seen
