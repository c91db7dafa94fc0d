-- What an app source's event was answered the first time: its first judgement.
-- returns: n int (index of the copy), outcome int (move outcome)
SELECT DISTINCT ON (x.n) x.n, x.outcome
FROM (
    SELECT u.n, m.outcome, m.at, m.nth
    FROM unnest($1::int4[], $2::int4[], $3::int4[], $4::text[], $5::text[], $6::text[]) u(n, b, s, o, e, sc)
    JOIN moves m ON m.bucket = u.b AND m.order_id = u.o COLLATE "C" AND m.event_id = u.e COLLATE "C"
                AND m.source = u.s AND m.scope = u.sc COLLATE "C"
    UNION ALL
    SELECT u.n, m.outcome, m.at, m.nth
    FROM unnest($1::int4[], $2::int4[], $3::int4[], $4::text[], $5::text[], $6::text[]) u(n, b, s, o, e, sc)
    JOIN moves m ON u.o IS NULL AND m.bucket = u.b AND m.order_id IS NULL AND m.event_id = u.e COLLATE "C"
                AND m.source = u.s AND m.scope = u.sc COLLATE "C"
) x
ORDER BY x.n, x.at, x.nth
