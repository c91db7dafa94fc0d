-- What providers said later of a notification's deliveries. $1 every bucket, $2 its id.
-- returns: at us bigint, channel int, redrive int, source text, kind int, outcome int, from state int, to state int, step int,
--   event_id text, said text
SELECT (extract(epoch FROM r.at) * 1000000)::int8, r.channel, r.redrive, coalesce(s.name, '?'), r.kind, r.outcome, r.from_state,
       r.to_state, r.step, r.event_id, r.said
FROM receipts r
LEFT JOIN names s ON s.kind = 1 AND s.id = r.source
WHERE r.bucket = ANY($1::int4[]) AND r.notification_id = $2::uuid
ORDER BY r.at LIMIT 500
