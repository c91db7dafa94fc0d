-- Deliveries of notifications. Arrays: bucket, id.
-- returns: once text, channel int, state int, tries int, possible duplicates int, delivery order int, address text,
--   reason text, created us bigint, updated us bigint, wire us bigint, redrive int
SELECT n.once, d.channel, d.state, d.tries, d.possible_duplicates, d.delivery_order, d.address, d.reason,
       (extract(epoch FROM d.created_at) * 1000000)::int8, (extract(epoch FROM d.updated_at) * 1000000)::int8,
       (extract(epoch FROM d.wire_at) * 1000000)::int8, d.redrive
FROM unnest($1::int4[], $2::uuid[]) u(b, n)
JOIN notifications n ON n.bucket = u.b AND n.notification_id = u.n
JOIN deliveries d ON d.bucket = u.b AND d.notification_id = u.n
ORDER BY d.created_at LIMIT 500
