-- Deliveries by a filter, the oldest first; of each only its last redrive, so that what was sent anew is not found again, unless $9.
-- $1 not older, $2 not younger than so many seconds, $3 states, $4 channel (-1 = any), $5 type, $6 order, $7 provider of the
-- last try (NULL = any), $8 at most so many.
-- returns: as pick_one.sql
SELECT d.bucket, d.notification_id, d.channel, d.target, d.redrive, d.state, d.tries, d.unknown_tries, d.possible_duplicates,
       n.type, coalesce(m.name, '?'), n.order_id, d.address, d.reason, n.data IS NOT NULL, x.latest, d.recipient
FROM deliveries d
JOIN notifications n ON n.bucket = d.bucket AND n.notification_id = d.notification_id
LEFT JOIN names m ON m.kind = 3 AND m.id = n.type
CROSS JOIN LATERAL (
    SELECT NOT EXISTS (SELECT 1 FROM deliveries y
                       WHERE y.bucket = d.bucket AND y.notification_id = d.notification_id AND y.channel = d.channel
                         AND y.target = d.target AND y.redrive > d.redrive) AS latest
    OFFSET 0) x
WHERE d.created_at > now() - $1::int8 * interval '1 second' AND d.created_at <= now() - $2::int8 * interval '1 second'
  AND d.state = ANY($3::int4[]) AND ($4::int4 < 0 OR d.channel = $4::int4)
  AND ($5::text IS NULL OR m.name = $5::text) AND ($6::text IS NULL OR n.order_id = $6::text)
  AND ($7::text IS NULL OR d.provider = $7::text)
  AND ($9::bool OR x.latest)
ORDER BY d.created_at LIMIT $8::int4
