-- Deliveries, newest first. $1 not older than so many seconds, $2 states (none = any), $3 message type, $4 provider of
-- the last try (NULL = any), $5 at most so many. What waits, or a try was refused of, has the last try's words as its reason, and what waits its time if that is among the next 20000 due.
-- returns: created us bigint, notification_id uuid, channel int, type text, state int, tries int, possible duplicates int,
--   address text (of push the device's short id), order_id text, reason text, due us bigint
WITH r AS MATERIALIZED (
    SELECT d.*, n.order_id, m.name
    FROM deliveries d
    JOIN notifications n ON n.bucket = d.bucket AND n.notification_id = d.notification_id
    LEFT JOIN names m ON m.kind = 3 AND m.id = n.type
    WHERE d.created_at > now() - $1::int8 * interval '1 second' AND (d.state = ANY($2::int4[]) OR cardinality($2::int4[]) = 0)
      AND ($3::text IS NULL OR m.name = $3::text) AND ($4::text IS NULL OR d.provider = $4::text)
    ORDER BY d.created_at DESC LIMIT $5::int4
), w AS MATERIALIZED (
    SELECT x.bucket, x.notification_id, x.channel, x.target, x.redrive, x.tries, min(x.due_at) AS due_at
    FROM (SELECT * FROM due
          WHERE lane = ANY(ARRAY(SELECT DISTINCT l FROM r, unnest(ARRAY[r.lane, r.lane / 10 * 10 + 9]) l WHERE r.state = 0))
            AND due_at >= (SELECT min(r.updated_at) FROM r WHERE r.state = 0)
          LIMIT 20000) x
    -- IS TRUE keeps it a hashed look-up: as a join it may compare every row with every other.
    WHERE (x.notification_id IN (SELECT r.notification_id FROM r WHERE r.state = 0)) IS TRUE
    GROUP BY 1, 2, 3, 4, 5, 6
)
SELECT (extract(epoch FROM r.created_at) * 1000000)::int8, r.notification_id, r.channel, coalesce(r.name, '?'), r.state,
       r.tries, r.possible_duplicates, CASE r.channel WHEN 3 THEN r.target ELSE r.address END, r.order_id,
       CASE WHEN r.state = 1 THEN NULL -- on the wire it is an earlier try's
            WHEN r.state = 3 AND a.outcome = 2 AND a.detail <> '' THEN a.detail
            ELSE coalesce(r.reason, a.detail) END,
       (extract(epoch FROM w.due_at) * 1000000)::int8
FROM r
LEFT JOIN w ON r.state = 0 AND w.bucket = r.bucket AND w.notification_id = r.notification_id AND w.channel = r.channel
  AND w.target = r.target AND w.redrive = r.redrive AND w.tries = r.tries
LEFT JOIN LATERAL (
    SELECT y.outcome, y.detail FROM attempts y
    WHERE r.state IN (0, 3) AND y.bucket = r.bucket AND y.notification_id = r.notification_id AND y.channel = r.channel
      AND y.target = r.target AND y.redrive = r.redrive
    ORDER BY y.step DESC LIMIT 1) a ON true
ORDER BY r.created_at DESC
