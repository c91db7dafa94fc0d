-- Deliveries of notifications. Arrays: bucket, id. What waits has the last try's words as its reason, and its time if that
-- is among the next 20000 due.
-- returns: once text, channel int, state int, tries int, possible duplicates int, delivery order int, address text,
--   reason text, created us bigint, updated us bigint, wire us bigint, redrive int, due us bigint, is its address suppressed now bool (of what was refused, bounced or complained of)
WITH d AS MATERIALIZED (
    SELECT n.once, n.type, x.*
    FROM unnest($1::int4[], $2::uuid[]) u(b, n)
    JOIN notifications n ON n.bucket = u.b AND n.notification_id = u.n
    JOIN deliveries x ON x.bucket = u.b AND x.notification_id = u.n
    ORDER BY x.created_at LIMIT 500
), w AS MATERIALIZED (
    SELECT x.bucket, x.notification_id, x.channel, x.target, x.redrive, x.tries, min(x.due_at) AS due_at
    FROM (SELECT * FROM due
          WHERE lane = ANY(ARRAY(SELECT DISTINCT l FROM d, unnest(ARRAY[d.lane, d.lane / 10 * 10 + 9]) l WHERE d.state = 0))
            AND due_at >= (SELECT min(d.updated_at) FROM d WHERE d.state = 0)
          LIMIT 20000) x
    -- IS TRUE keeps it a hashed look-up: as a join it may compare every row with every other.
    WHERE (x.notification_id IN (SELECT d.notification_id FROM d WHERE d.state = 0)) IS TRUE
    GROUP BY 1, 2, 3, 4, 5, 6
)
SELECT d.once, d.channel, d.state, d.tries, d.possible_duplicates, d.delivery_order,
       CASE d.channel WHEN 3 THEN d.target ELSE d.address END,
       coalesce(d.reason, a.detail), (extract(epoch FROM d.created_at) * 1000000)::int8,
       (extract(epoch FROM d.updated_at) * 1000000)::int8, (extract(epoch FROM d.wire_at) * 1000000)::int8, d.redrive,
       (extract(epoch FROM w.due_at) * 1000000)::int8,
       d.state IN (3, 11, 12) AND EXISTS (SELECT FROM suppressions s WHERE s.channel = d.channel
         AND s.key = address_key(d.channel, d.address) AND s.type IN (0, d.type))
FROM d
LEFT JOIN w ON d.state = 0 AND w.bucket = d.bucket AND w.notification_id = d.notification_id AND w.channel = d.channel
  AND w.target = d.target AND w.redrive = d.redrive AND w.tries = d.tries
LEFT JOIN LATERAL (
    SELECT y.detail FROM attempts y
    WHERE d.state = 0 AND y.bucket = d.bucket AND y.notification_id = d.notification_id AND y.channel = d.channel
      AND y.target = d.target AND y.redrive = d.redrive
    ORDER BY y.step DESC LIMIT 1) a ON true
ORDER BY d.created_at
