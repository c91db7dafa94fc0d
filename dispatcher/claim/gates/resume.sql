-- Puts back into their lanes at most $1 deliveries that pauses held: those of a pause that has ended, or ($2) holds nothing on a
-- channel ($3) any more, and those that expired meanwhile; the time that they waited is none of their time for tries.
-- returns: channel int, count int
WITH pause AS MATERIALIZED (
    SELECT p.id, l.lane, CASE WHEN p.until <= now() OR (p.id, l.lane / 10) IN (SELECT * FROM unnest($2::int4[], $3::int4[]))
                              THEN 'infinity' ELSE now() END AS up_to
    FROM pauses p
    CROSS JOIN unnest(ARRAY[10, 20, 30, 11, 21, 31, 12, 22, 32]) WITH ORDINALITY l(lane, nth)
    ORDER BY l.nth
), held AS MATERIALIZED (
    SELECT d.ctid
    FROM pause p
    CROSS JOIN LATERAL (
        SELECT x.ctid FROM due x
        WHERE x.lane = -(p.id * 100 + p.lane) AND x.due_at <= p.up_to
        ORDER BY x.due_at LIMIT $1::int4 FOR UPDATE SKIP LOCKED) d
    LIMIT $1::int4
), taken AS (
    DELETE FROM due WHERE ctid = ANY(ARRAY(SELECT ctid FROM held))
    RETURNING bucket, lane, notification_id, channel, redrive, tries, target
), released AS (
    UPDATE deliveries d
    SET reason = NULL, updated_at = now(),
        retry_until = CASE WHEN d.retry_until > d.created_at THEN d.retry_until + (now() - d.updated_at) ELSE d.retry_until END
    FROM (SELECT * FROM taken ORDER BY bucket, notification_id, channel, target, redrive) t
    WHERE d.bucket = ANY(ARRAY[t.bucket]) AND d.notification_id = t.notification_id AND d.channel = t.channel
      AND d.target = t.target AND d.redrive = t.redrive AND d.tries = t.tries AND d.state = 0
), back AS (
    INSERT INTO due (bucket, lane, due_at, notification_id, channel, redrive, tries, target)
    SELECT bucket, -lane % 100, now(), notification_id, channel, redrive, tries, target FROM taken
)
SELECT channel, count(*)::int4 FROM taken GROUP BY channel
