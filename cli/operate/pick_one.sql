-- The deliveries of one notification that may be acted on. $1 every bucket, $2 its id, $3 channel (-1 = any).
-- returns: bucket int, notification_id uuid, channel int, target text, redrive int, state int, tries int,
--   unknown tries int, possible duplicates int, type int, type text, order_id text, address text, reason text, sendable bool,
--   latest bool, recipient text
SELECT d.bucket, d.notification_id, d.channel, d.target, d.redrive, d.state, d.tries, d.unknown_tries, d.possible_duplicates,
       n.type, coalesce(m.name, '?'), n.order_id, d.address, d.reason, n.data IS NOT NULL,
       NOT EXISTS (SELECT 1 FROM deliveries x
                   WHERE x.bucket = d.bucket AND x.notification_id = d.notification_id AND x.channel = d.channel
                     AND x.target = d.target AND x.redrive > d.redrive), d.recipient
FROM deliveries d
JOIN notifications n ON n.bucket = d.bucket AND n.notification_id = d.notification_id
LEFT JOIN names m ON m.kind = 3 AND m.id = n.type
WHERE d.bucket = ANY($1::int4[]) AND d.notification_id = $2::uuid AND ($3::int4 < 0 OR d.channel = $3::int4)
ORDER BY d.bucket, d.notification_id, d.channel, d.target, d.redrive LIMIT 1000
