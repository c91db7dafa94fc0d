-- Events that wait for an order. $1 its bucket, $2 its id, $3 only this event (NULL = all).
-- returns: source int, source's name text, scope text, event_id text, type text, to text, reason int (move outcome),
--   since us bigint
SELECT w.source, coalesce(s.name, '?'), w.scope, w.event_id, w.type, t.name, w.reason,
       (extract(epoch FROM w.since) * 1000000)::int8
FROM waiting w
LEFT JOIN names s ON s.kind = 1 AND s.id = w.source
LEFT JOIN names t ON t.kind = 2 AND t.id = w.to_state
WHERE w.bucket = $1::int4 AND w.order_id = $2::text COLLATE "C"
  AND ($3::text IS NULL OR w.event_id = $3::text COLLATE "C")
ORDER BY w.since LIMIT 500
