-- What an app source's event was answered the first time: its first judgement. $2 $4: bucket and order as its key names
-- them, whatever the policy of now reads; without an order, the key's own bucket.
-- returns: n int (index of the copy), outcome int (move outcome)
SELECT DISTINCT ON (x.n) x.n, x.outcome
FROM (
    SELECT u.n, m.outcome, m.at, m.nth
    FROM unnest($1::int4[], $2::int4[], $3::int4[], $4::text[], $5::text[], $6::text[]) u(n, b, s, o, e, sc)
    CROSS JOIN LATERAL ( -- with OFFSET 0 a probe for each copy, as orders_lock.sql says
        SELECT x.outcome, x.at, x.nth FROM moves x
        WHERE x.bucket = u.b AND x.order_id = u.o COLLATE "C" AND x.event_id = u.e COLLATE "C" AND x.source = u.s
          AND x.scope = u.sc COLLATE "C"
        OFFSET 0) m
    UNION ALL
    SELECT u.n, m.outcome, m.at, m.nth
    FROM unnest($1::int4[], $2::int4[], $3::int4[], $4::text[], $5::text[], $6::text[]) u(n, b, s, o, e, sc)
    CROSS JOIN LATERAL (
        SELECT x.outcome, x.at, x.nth FROM moves x
        WHERE u.o IS NULL AND x.bucket = u.b AND x.order_id IS NULL AND x.event_id = u.e COLLATE "C" AND x.source = u.s
          AND x.scope = u.sc COLLATE "C"
        OFFSET 0) m
) x
ORDER BY x.n, x.at, x.nth
