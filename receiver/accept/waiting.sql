-- The events that wait for the (locked) orders, oldest first.
-- returns: bucket, order_id, source, to_state, sequence, event_id, scope, type, contact, data
SELECT w.bucket, w.order_id, w.source, w.to_state, w.sequence, w.event_id, w.scope, w.type,
       w.contact, w.data
FROM unnest($1::int4[], $2::text[]) u(b, o)
JOIN waiting w ON w.bucket = ANY(ARRAY[u.b]) AND w.order_id = u.o COLLATE "C"
ORDER BY u.b, u.o COLLATE "C", w.since, w.event_id
