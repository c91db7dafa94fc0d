-- Blanks the data of the next notifications older than $1 s, in order of creation; those with a delivery without an end
-- are noted for later. Whoever does not get the one row's lock leaves it to the other. $2 at most so many (and ties),
-- $3 the policy version that says so
-- returns: seen bigint, blanked bigint
WITH turn AS (
    SELECT at FROM blanked_until WHERE $3::int4 = (SELECT max(version) FROM policy_versions) FOR UPDATE SKIP LOCKED
), batch AS MATERIALIZED (
    SELECT n.bucket, n.notification_id, n.created_at,
           EXISTS (SELECT 1 FROM deliveries d WHERE d.bucket = n.bucket AND d.notification_id = n.notification_id
                     AND d.state IN (0, 1)) AS open
    FROM turn, LATERAL (
        SELECT x.bucket, x.notification_id, x.created_at FROM notifications x
        WHERE x.created_at > turn.at AND x.created_at <= now() - $1::int8 * interval '1 second'
        ORDER BY x.created_at FETCH FIRST ($2::int8) ROWS WITH TIES) n
), later AS (
    INSERT INTO blank_later SELECT bucket, notification_id FROM batch WHERE open ON CONFLICT DO NOTHING
), blanked AS (
    UPDATE notifications n SET data = NULL FROM batch b
    WHERE NOT b.open AND n.bucket = b.bucket AND n.notification_id = b.notification_id AND n.data IS NOT NULL
    RETURNING 1
), moved AS (
    UPDATE blanked_until SET at = (SELECT max(created_at) FROM batch) WHERE EXISTS (SELECT 1 FROM batch)
)
SELECT (SELECT count(*) FROM batch), (SELECT count(*) FROM blanked)
