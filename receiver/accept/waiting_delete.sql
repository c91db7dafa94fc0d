-- Takes back events that were judged.
-- returns: nothing
DELETE FROM waiting w
USING unnest($1::int4[], $2::text[], $3::text[], $4::int4[], $5::text[]) u(b, o, e, s, sc)
WHERE w.bucket = ANY(ARRAY[u.b]) AND w.order_id = u.o COLLATE "C" AND w.event_id = u.e COLLATE "C" AND w.source = u.s
  AND w.scope = u.sc COLLATE "C"
