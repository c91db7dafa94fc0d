-- Deliveries, newest first. $1 not older than so many seconds, $2 state (-1 = any), $3 message type (NULL = any), $4 at
-- most so many.
-- returns: created us bigint, notification_id uuid, channel int, type text, state int, tries int, possible duplicates int,
--   address text, order_id text, reason text
SELECT (extract(epoch FROM d.created_at) * 1000000)::int8, d.notification_id, d.channel, coalesce(m.name, '?'), d.state,
       d.tries, d.possible_duplicates, d.address, n.order_id, d.reason
FROM deliveries d
JOIN notifications n ON n.bucket = d.bucket AND n.notification_id = d.notification_id
LEFT JOIN names m ON m.kind = 3 AND m.id = n.type
WHERE d.created_at > now() - $1::int8 * interval '1 second' AND ($2::int4 < 0 OR d.state = $2::int4)
  AND ($3::text IS NULL OR m.name = $3::text)
ORDER BY d.created_at DESC LIMIT $4::int4
