-- Deletes cap slots that hold nothing back any more, among the next $4 in key order after bucket $1, cap $2 and number $3: those
-- whose time was over an hour ago, counted from their date, or, where nobody asked their cap since, from the last end of their
-- deliveries. What a claim takes, settles or keeps just now is left: it locks the row, or has changed it. A claim that finds its
-- slot gone takes one anew (cap_take.sql).
-- returns: seen bigint, deleted bigint, the last seen: bucket int, cap text, nth int (NULL = none)
WITH next AS MATERIALIZED (
    SELECT s.bucket, s.cap, s.nth, s.of_bucket, s.notification_id, s.channel, s.redrive, s.taken_at, s.used_at, s.in_ms
    FROM cap_slots s
    WHERE (s.bucket, s.cap, s.nth) > ($1::int4, $2::text, $3::int4)
    ORDER BY s.bucket, s.cap, s.nth LIMIT $4::int8
), over AS MATERIALIZED (
    SELECT n.bucket, n.cap, n.nth, n.taken_at, n.used_at
    FROM next n
    CROSS JOIN LATERAL (
        SELECT coalesce(bool_or(y.state IN (0, 1)), false) AS open, max(y.updated_at) AS ended_at FROM deliveries y
        WHERE n.used_at IS NULL AND y.bucket = n.of_bucket AND y.notification_id = n.notification_id AND y.channel = n.channel
          AND y.redrive = n.redrive
        OFFSET 0) d
    WHERE NOT d.open
      AND coalesce(n.used_at, d.ended_at, n.taken_at) + n.in_ms * interval '1 millisecond' < now() - interval '1 hour'
), locked AS MATERIALIZED (
    SELECT o.bucket, o.cap, o.nth
    FROM over o
    CROSS JOIN LATERAL (
        SELECT FROM cap_slots x
        WHERE x.bucket = o.bucket AND x.cap = o.cap AND x.nth = o.nth AND x.taken_at = o.taken_at
          AND x.used_at IS NOT DISTINCT FROM o.used_at
        FOR UPDATE SKIP LOCKED) x
), gone AS (
    DELETE FROM cap_slots s USING locked l
    WHERE s.bucket = ANY(ARRAY[l.bucket]) AND s.cap = l.cap AND s.nth = l.nth
    RETURNING 1
)
SELECT (SELECT count(*) FROM next), (SELECT count(*) FROM gone), l.bucket, l.cap, l.nth
FROM (SELECT) always
LEFT JOIN (SELECT n.bucket, n.cap, n.nth FROM next n ORDER BY n.bucket DESC, n.cap DESC, n.nth DESC LIMIT 1) l ON true
