-- First copies of events. Arrays: bucket, source, scope, event id.
-- returns: event_id text, source's name text, at us bigint, outcome int, type text, secret text, reason text
SELECT k.event_id, coalesce(s.name, '?'), (extract(epoch FROM k.first_at) * 1000000)::int8, coalesce(b.outcome, 1),
       b.type, b.secret, b.reason
FROM unnest($1::int4[], $2::int4[], $3::text[], $4::text[]) u(b, s, sc, e)
JOIN keys k ON k.bucket = u.b AND k.event_id = u.e COLLATE "C" AND k.source = u.s AND k.scope = u.sc COLLATE "C"
LEFT JOIN names s ON s.kind = 1 AND s.id = k.source
LEFT JOIN LATERAL (
    SELECT x.outcome, x.type, x.secret, x.reason FROM bodies x
    WHERE x.received_at = k.first_at AND x.bucket = k.bucket AND x.event_id = k.event_id AND x.source = k.source
      AND x.arrival = k.arrival
    LIMIT 1) b ON true
ORDER BY k.first_at LIMIT 500
