-- First copies of events. Arrays: bucket, source, scope, event id. While two generations overlap a first copy has a row of
-- keys in each: it is read once. One that came again after its key was forgotten is a first once more, by another arrival.
-- returns: event_id text, source's name text, at us bigint, outcome int, type text, secret text, reason text
SELECT k.event_id, coalesce(s.name, '?'), (extract(epoch FROM k.first_at) * 1000000)::int8, coalesce(b.outcome, 1),
       b.type, b.secret, b.reason
FROM (
    SELECT DISTINCT ON (x.bucket, x.event_id, x.source, x.scope, x.arrival) x.*
    FROM unnest($1::int4[], $2::int4[], $3::text[], $4::text[]) u(b, s, sc, e)
    JOIN keys x ON x.bucket = u.b AND x.event_id = u.e COLLATE "C" AND x.source = u.s AND x.scope = u.sc COLLATE "C"
    ORDER BY x.bucket, x.event_id, x.source, x.scope, x.arrival, x.first_at) k
LEFT JOIN names s ON s.kind = 1 AND s.id = k.source
LEFT JOIN LATERAL (
    SELECT x.outcome, x.type, x.secret, x.reason FROM bodies x
    WHERE x.received_at = k.first_at AND x.bucket = k.bucket AND x.event_id = k.event_id AND x.source = k.source
      AND x.arrival = k.arrival
    LIMIT 1) b ON true
ORDER BY k.first_at LIMIT 500
