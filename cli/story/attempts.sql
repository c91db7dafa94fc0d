-- Tries of notifications' deliveries. Arrays: bucket, id.
-- returns: once text, channel int, step int, outcome int, code int, enhanced text, detail text, wire ms int,
--   possible duplicate bool, at us bigint, provider text
SELECT n.once, a.channel, a.step, a.outcome, a.code, a.enhanced, a.detail, a.wire_ms, a.possible_duplicate,
       (extract(epoch FROM a.at) * 1000000)::int8, a.provider
FROM unnest($1::int4[], $2::uuid[]) u(b, n)
JOIN notifications n ON n.bucket = u.b AND n.notification_id = u.n
JOIN attempts a ON a.bucket = u.b AND a.notification_id = u.n
ORDER BY a.at LIMIT 500
