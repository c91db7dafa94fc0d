-- Blanks those that had a delivery without an end when their time came and have none any more. $1 at most so many
-- returns: blanked bigint
WITH gone AS (
    DELETE FROM blank_later g
    USING (SELECT l.bucket, l.notification_id FROM blank_later l
           WHERE NOT EXISTS (SELECT 1 FROM deliveries d WHERE d.bucket = l.bucket AND d.notification_id = l.notification_id
                               AND d.state IN (0, 1))
           LIMIT $1::int8) e
    WHERE g.bucket = e.bucket AND g.notification_id = e.notification_id
    RETURNING g.bucket, g.notification_id
), blanked AS (
    UPDATE notifications n SET data = NULL FROM gone e
    WHERE n.bucket = e.bucket AND n.notification_id = e.notification_id AND n.data IS NOT NULL RETURNING 1
)
SELECT count(*) FROM blanked
