-- The delivery whose content carries this Message-ID. No index has it: contents of the last $2 seconds are read.
-- returns: notification_id uuid
SELECT c.notification_id
FROM contents c
WHERE c.at > now() - $2::int8 * interval '1 second' AND (c.content::jsonb ->> 'message_id') = $1::text
ORDER BY c.at DESC LIMIT 1
