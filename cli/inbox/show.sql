-- The kept bodies of an event id, of any source; a mismatch has its own, the events of one request share one. While two
-- generations overlap a key has a row in each. $1 every bucket, $2 the id as text and as number.
-- returns: at us bigint, event_id text, source's name text, scope text, type text, outcome int, order_id text, reason text,
--   secret text, headers text, body bytea
SELECT (extract(epoch FROM b.received_at) * 1000000)::int8, b.event_id, coalesce(s.name, '?'), b.scope, b.type, b.outcome,
       k.order_id, b.reason, b.secret, coalesce(c.headers, b.headers), coalesce(c.body, b.body)
FROM (
    SELECT DISTINCT ON (x.bucket, x.event_id, x.source, x.scope) x.*
    FROM keys x
    WHERE x.bucket = ANY($1::int4[]) AND x.event_id = ANY($2::text[])
    ORDER BY x.bucket, x.event_id, x.source, x.scope, x.first_at) k
JOIN LATERAL (
    SELECT * FROM bodies x
    WHERE x.received_at >= k.first_at AND x.bucket = k.bucket AND x.event_id = k.event_id AND x.source = k.source
      AND x.scope = k.scope
    ORDER BY x.received_at LIMIT 20) b ON true
LEFT JOIN LATERAL (
    SELECT x.headers, x.body FROM bodies x
    WHERE b.body = '' AND x.received_at = b.received_at AND x.arrival = b.arrival AND x.body <> '' LIMIT 1) c ON true
LEFT JOIN names s ON s.kind = 1 AND s.id = b.source
ORDER BY b.received_at LIMIT 20
