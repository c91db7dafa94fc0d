-- Judges events with a key of signed bytes against the row that took it, in a statement of its own, as repeats.sql: under
-- another id they are a replay. A new one ($10) is recorded; one of a transaction run again was recorded by the first.
-- $1 $2 $3: live slots, newest first (-1 = none): the row in the newest counts.
-- returns: n int (index of the copy), age bigint in microseconds, of the replays
WITH seen AS MATERIALIZED (
    SELECT DISTINCT ON (u.n) u.n, u.b, u.s, u.e, u.sc, u.a, u.k, u.w, k.event_id, k.scope,
           greatest(clock_timestamp() - k.first_at, interval '0') AS age
    FROM unnest($4::int4[], $5::int4[], $6::int4[], $7::int4[], $8::text[], $9::text[], $10::bool[], $11::bytea[],
                $12::uuid[], $13::text[]) u(n, b, s, sb, e, sc, w, d, a, k)
    CROSS JOIN LATERAL ( -- with OFFSET 0 a probe of the key for each copy, as orders_lock.sql says
        SELECT x.slot, x.event_id, x.scope, x.first_at FROM replay_keys x
        WHERE x.slot IN ($1::int4, $2::int4, $3::int4) AND x.bucket = u.sb AND x.digest = u.d AND x.source = u.s
        OFFSET 0) k
    ORDER BY u.n, k.slot = $1::int4 DESC, k.slot = $2::int4 DESC
), replays AS MATERIALIZED (
    SELECT * FROM seen WHERE event_id <> e COLLATE "C" OR scope <> sc COLLATE "C"
), kept AS (
    INSERT INTO repeats (bucket, source, outcome, event_id, scope, arrival, age, at, secret)
    SELECT b, s, 4, e, sc, a, age, now(), k FROM replays WHERE w
)
SELECT n, (extract(epoch FROM age) * 1000000)::bigint FROM replays
