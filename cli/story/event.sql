-- The events with this id, of any source: one probe a bucket. $1 every bucket, $2 the id as text and as number. While two
-- generations overlap a key has a row in each.
-- returns: bucket int, source int, scope text, event_id text, order_id text
SELECT k.bucket, k.source, k.scope, k.event_id, k.order_id
FROM (
    SELECT DISTINCT ON (x.bucket, x.event_id, x.source, x.scope) x.*
    FROM keys x
    WHERE x.bucket = ANY($1::int4[]) AND x.event_id = ANY($2::text[])
    ORDER BY x.bucket, x.event_id, x.source, x.scope, x.first_at) k
ORDER BY k.first_at LIMIT 20
