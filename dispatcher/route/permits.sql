-- Takes permits of rates ($1: scope, $2: permits a second, $3: how many are wanted), by the database's clock. A tenth of
-- a second may be saved up, one permit at least. A clock that was set back does not hold a rate up for longer than 5 s.
-- returns: ordinality (from 1) of the rate, granted, in how many ms half as many again are free; no row = its row was
--   made just now: ask again
WITH asked AS MATERIALIZED (
    SELECT u.scope, u.rate, u.wanted, u.i, greatest(0.1, 1 / u.rate) * interval '1 second' AS depth
    FROM unnest($1::text[], $2::float8[], $3::int4[]) WITH ORDINALITY u(scope, rate, wanted, i)
), made AS (
    INSERT INTO rates (scope, free_at)
    SELECT a.scope, timestamptz 'epoch' FROM asked a
    WHERE NOT EXISTS (SELECT 1 FROM rates r WHERE r.scope = a.scope)
    ORDER BY a.scope
    ON CONFLICT DO NOTHING
), held AS MATERIALIZED (
    SELECT scope, free_at FROM rates WHERE scope = ANY($1::text[]) ORDER BY scope FOR UPDATE
), based AS (
    SELECT a.scope, a.i, a.rate, a.wanted,
           greatest(now() - a.depth, CASE WHEN h.free_at <= now() + interval '5 seconds' THEN h.free_at END) AS base
    FROM held h JOIN asked a ON a.scope = h.scope
), granted AS MATERIALIZED (
    SELECT scope, i, rate, wanted, base,
           least(wanted, greatest(0, floor(extract(epoch FROM now() - base)::float8 * rate + 0.000001)))::int4 AS n
    FROM based
), taken AS (
    UPDATE rates r SET free_at = g.base + g.n / g.rate * interval '1 second'
    FROM granted g WHERE r.scope = g.scope AND g.n > 0
)
SELECT i::int4, n,
       ceil(greatest(0, extract(epoch FROM base - now())::float8 + (n + greatest(1, wanted / 2)) / rate) * 1000)::int8
FROM granted
