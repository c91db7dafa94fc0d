-- A notification by its id: one probe a bucket. $1 the buckets, $2 the id.
-- returns: bucket int, source int, scope text, event_id text, order_id text, source's name text
SELECT n.bucket, n.source, n.scope, n.event_id, n.order_id, s.name
FROM notifications n LEFT JOIN names s ON s.kind = 1 AND s.id = n.source
WHERE n.bucket = ANY($1::int4[]) AND n.notification_id = $2::uuid
LIMIT 1
