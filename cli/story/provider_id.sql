-- The delivery that a provider knows by this id. No index has it: deliveries of the last $2 seconds are read.
-- returns: notification_id uuid
SELECT d.notification_id
FROM deliveries d
WHERE d.created_at > now() - $2::int8 * interval '1 second' AND d.provider_id = $1::text
ORDER BY d.created_at DESC LIMIT 1
