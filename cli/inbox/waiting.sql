-- Events that wait for a step or for their order, the longest first. $1 orders.park in s, $2 only those past it, $3 at most
-- so many.
-- returns: since us bigint, expired boolean, event_id text, source's name text, type text, order_id text, to state's name text,
--   reason int (move outcome)
SELECT (extract(epoch FROM w.since) * 1000000)::int8, w.since <= now() - $1::int8 * interval '1 second', w.event_id,
       coalesce(s.name, '?'), w.type, w.order_id, coalesce(t.name, '?'), w.reason
FROM (SELECT * FROM waiting x
      WHERE NOT $2::bool OR x.since <= now() - $1::int8 * interval '1 second'
      ORDER BY x.since LIMIT $3::int4) w
LEFT JOIN names s ON s.kind = 1 AND s.id = w.source
LEFT JOIN names t ON t.kind = 2 AND t.id = w.to_state
ORDER BY w.since
