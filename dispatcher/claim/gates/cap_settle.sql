-- Settles the slots of these caps that are held though their deliveries (the devices of one notification) have all ended, and no
-- later try than the one that a receipt spoke of is on the wire:
-- dated by the last end when the message may have reached the peer, given back when it surely did not. Whoever ended them
-- needs to know nothing of caps. What a rival holds just now is left to it, or to who asks next: nobody waits here. So it may lock
-- slots out of key order, but only in a transaction that waits for no other slot afterwards: one that cap_take.sql chose elsewhere
-- while it was free may be taken, ended and settled here before that claim gets to it.
-- returns: nothing
WITH ended AS MATERIALIZED (
    SELECT s.bucket, s.cap, s.nth, s.notification_id, s.taken_at, d.used_at
    FROM (SELECT DISTINCT b, k FROM unnest($1::int4[], $2::text[]) u(b, k)) c
    CROSS JOIN LATERAL (
        SELECT x.bucket, x.cap, x.nth, x.of_bucket, x.notification_id, x.channel, x.redrive, x.taken_at FROM cap_slots x
        WHERE x.bucket = c.b AND x.cap = c.k AND x.used_at IS NULL
        OFFSET 0) s
    CROSS JOIN LATERAL (
        -- May have reached the peer: accepted, unknown, what a receipt made of these, and any unknown try before the end.
        SELECT coalesce(bool_or(y.state IN (0, 1) OR CASE WHEN y.tries > 1 THEN EXISTS (
                   SELECT FROM claims c WHERE y.notification_id = ANY(c.n)) END), false) AS open,
               coalesce(max(y.updated_at) FILTER (WHERE y.state IN (2, 9, 10, 11, 12) OR y.unknown_tries > 0),
                        '-infinity') AS used_at
        FROM deliveries y
        WHERE y.bucket = s.of_bucket AND y.notification_id = s.notification_id AND y.channel = s.channel
          AND y.redrive = s.redrive
        OFFSET 0) d
    WHERE NOT d.open
), locked AS MATERIALIZED (
    SELECT e.bucket, e.cap, e.nth, e.used_at
    FROM (SELECT * FROM ended ORDER BY bucket, cap, nth) e
    CROSS JOIN LATERAL (
        SELECT FROM cap_slots x
        WHERE x.bucket = e.bucket AND x.cap = e.cap AND x.nth = e.nth AND x.notification_id = e.notification_id
          AND x.taken_at = e.taken_at AND x.used_at IS NULL -- else it was taken again meanwhile
        FOR UPDATE SKIP LOCKED) s
), given_back AS (
    DELETE FROM cap_slots s USING locked l
    WHERE s.bucket = ANY(ARRAY[l.bucket]) AND s.cap = l.cap AND s.nth = l.nth AND l.used_at = '-infinity'
)
UPDATE cap_slots s SET used_at = l.used_at FROM locked l
WHERE s.bucket = ANY(ARRAY[l.bucket]) AND s.cap = l.cap AND s.nth = l.nth AND l.used_at > '-infinity'
