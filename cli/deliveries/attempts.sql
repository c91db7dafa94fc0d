-- The attempts of a notification. $1 every bucket, $2 its id.
-- returns: at us bigint, channel int, step int, outcome int, code int, detail text, wire ms int, possible duplicate bool,
--   provider text
SELECT (extract(epoch FROM a.at) * 1000000)::int8, a.channel, a.step, a.outcome, a.code, a.detail, a.wire_ms,
       a.possible_duplicate, a.provider
FROM attempts a
WHERE a.bucket = ANY($1::int4[]) AND a.notification_id = $2::uuid
ORDER BY a.at LIMIT 500
