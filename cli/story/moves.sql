-- The judgements of an order ($1 bucket, $2 id), or of an event without one ($2 NULL, $3 its id), oldest first. With an
-- order, $3 keeps those of one event.
-- returns: source int, source's name text, scope text, event_id text, outcome int, from text, to text, version int,
--   policy int, at us bigint, notifications uuid[]
SELECT m.source, coalesce(s.name, '?'), m.scope, m.event_id, m.outcome, f.name, t.name, m.version, m.policy,
       (extract(epoch FROM m.at) * 1000000)::int8, m.notifications
FROM (
    SELECT * FROM (
        SELECT * FROM moves x
        WHERE $2::text IS NOT NULL AND x.bucket = $1::int4 AND x.order_id = $2::text COLLATE "C"
          AND ($3::text IS NULL OR x.event_id = $3::text COLLATE "C")
        ORDER BY x.at, x.nth LIMIT 500) a
    UNION ALL
    SELECT * FROM (
        SELECT * FROM moves x
        WHERE $2::text IS NULL AND x.bucket = $1::int4 AND x.order_id IS NULL AND x.event_id = $3::text COLLATE "C"
        ORDER BY x.at, x.nth LIMIT 500) b
) m
LEFT JOIN names s ON s.kind = 1 AND s.id = m.source
LEFT JOIN names f ON f.kind = 2 AND f.id = m.from_state
LEFT JOIN names t ON t.kind = 2 AND t.id = m.to_state
ORDER BY m.at, m.nth
