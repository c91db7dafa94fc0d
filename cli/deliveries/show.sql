-- The deliveries of a notification. $1 every bucket, $2 its id. What waits, or a try was refused of, has the last try's words as its reason, and what waits its
-- time if that is among the next 20000 due.
-- returns: channel int, redrive int, state int, tries int, possible duplicates int, delivery order int, address text (of push the
--   device's short id), reason text, provider_id text, created us bigint, expires us bigint, once text, type text, order_id text, content text,
--   due us bigint
WITH d AS MATERIALIZED (
    SELECT * FROM deliveries
    WHERE bucket = ANY($1::int4[]) AND notification_id = $2::uuid
    ORDER BY created_at LIMIT 100
), w AS MATERIALIZED (
    SELECT x.*
    FROM (SELECT * FROM due
          WHERE lane = ANY(ARRAY(SELECT DISTINCT l FROM d, unnest(ARRAY[d.lane, d.lane / 10 * 10 + 9]) l WHERE d.state = 0))
            AND due_at >= (SELECT min(d.updated_at) FROM d WHERE d.state = 0)
          LIMIT 20000) x
    WHERE x.notification_id = $2::uuid
)
SELECT d.channel, d.redrive, d.state, d.tries, d.possible_duplicates, d.delivery_order,
       CASE d.channel WHEN 3 THEN d.target ELSE d.address END,
       CASE WHEN d.state = 1 THEN NULL
            WHEN d.state = 3 AND a.outcome = 2 AND a.detail <> '' THEN a.detail
            ELSE coalesce(d.reason, a.detail) END, d.provider_id, (extract(epoch FROM d.created_at) * 1000000)::int8,
       (extract(epoch FROM d.expires_at) * 1000000)::int8, n.once, coalesce(m.name, '?'), n.order_id, c.content,
       (SELECT (extract(epoch FROM min(w.due_at)) * 1000000)::int8 FROM w
        WHERE d.state = 0 AND w.bucket = d.bucket AND w.notification_id = d.notification_id AND w.channel = d.channel
          AND w.target = d.target AND w.redrive = d.redrive AND w.tries = d.tries)
FROM d
JOIN notifications n ON n.bucket = d.bucket AND n.notification_id = d.notification_id
LEFT JOIN names m ON m.kind = 3 AND m.id = n.type
LEFT JOIN LATERAL (
    SELECT x.content FROM contents x
    WHERE x.slot = d.content_slot AND x.bucket = d.bucket AND x.notification_id = d.notification_id
      AND x.channel = d.channel AND x.target = d.target AND x.redrive = d.redrive
    LIMIT 1) c ON true
LEFT JOIN LATERAL (
    SELECT y.outcome, y.detail FROM attempts y
    WHERE d.state IN (0, 3) AND y.bucket = d.bucket AND y.notification_id = d.notification_id AND y.channel = d.channel
      AND y.target = d.target AND y.redrive = d.redrive
    ORDER BY y.step DESC LIMIT 1) a ON true
ORDER BY d.created_at
