-- What providers said later of notifications' deliveries. Arrays: bucket, id.
-- returns: once text, source text, kind int, outcome int, from state int, to state int, step int, event_id text, said text,
--   at us bigint
SELECT n.once, coalesce(s.name, '?'), r.kind, r.outcome, r.from_state, r.to_state, r.step, r.event_id, r.said,
       (extract(epoch FROM r.at) * 1000000)::int8
FROM unnest($1::int4[], $2::uuid[]) u(b, n)
JOIN notifications n ON n.bucket = u.b AND n.notification_id = u.n
JOIN receipts r ON r.bucket = u.b AND r.notification_id = u.n
LEFT JOIN names s ON s.kind = 1 AND s.id = r.source
ORDER BY r.at LIMIT 500
