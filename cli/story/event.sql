-- The events with this id, of any source: one probe a bucket. $1 every bucket, $2 the id as text and as number.
-- returns: bucket int, source int, scope text, event_id text, order_id text
SELECT k.bucket, k.source, k.scope, k.event_id, k.order_id
FROM keys k
WHERE k.bucket = ANY($1::int4[]) AND k.event_id = ANY($2::text[])
ORDER BY k.first_at LIMIT 20
