-- Arrivals whose body is kept, newest first. $1 not older than so many seconds, $2 at most so many.
-- returns: at us bigint, event_id text, source's name text, type text, outcome int, order_id text, reason text, bytes int
SELECT (extract(epoch FROM b.received_at) * 1000000)::int8, b.event_id, coalesce(s.name, '?'), b.type, b.outcome,
       k.order_id, b.reason, octet_length(b.body)
FROM (
    SELECT * FROM bodies x
    WHERE x.received_at > now() - $1::int8 * interval '1 second'
    ORDER BY x.received_at DESC LIMIT $2::int4) b
LEFT JOIN names s ON s.kind = 1 AND s.id = b.source
LEFT JOIN LATERAL (
    SELECT x.order_id FROM keys x
    WHERE x.bucket = b.bucket AND x.event_id = b.event_id AND x.source = b.source AND x.scope = b.scope
    LIMIT 1) k ON true
ORDER BY b.received_at DESC
