-- The deliveries of a notification. $1 every bucket, $2 its id.
-- returns: channel int, redrive int, state int, tries int, possible duplicates int, delivery order int, address text,
--   reason text, provider_id text, created us bigint, expires us bigint, once text, type text, order_id text, content text
SELECT d.channel, d.redrive, d.state, d.tries, d.possible_duplicates, d.delivery_order, d.address, d.reason,
       d.provider_id, (extract(epoch FROM d.created_at) * 1000000)::int8, (extract(epoch FROM d.expires_at) * 1000000)::int8,
       n.once, coalesce(m.name, '?'), n.order_id, c.content
FROM deliveries d
JOIN notifications n ON n.bucket = d.bucket AND n.notification_id = d.notification_id
LEFT JOIN names m ON m.kind = 3 AND m.id = n.type
LEFT JOIN LATERAL (
    SELECT x.content FROM contents x
    WHERE x.slot = d.content_slot AND x.bucket = d.bucket AND x.notification_id = d.notification_id
      AND x.channel = d.channel AND x.target = d.target AND x.redrive = d.redrive
    LIMIT 1) c ON true
WHERE d.bucket = ANY($1::int4[]) AND d.notification_id = $2::uuid
ORDER BY d.created_at LIMIT 100
