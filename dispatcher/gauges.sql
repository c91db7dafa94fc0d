-- What waits and what is in doubt, a channel a row; counts stop at a million, so that the figure stays cheap.
-- returns: channel, due, age s of the oldest that is due now (NULL = none), unknown, age s of the oldest unknown,
--   held by pauses
SELECT c.id,
       (SELECT count(*)::int8 FROM (
            SELECT 1 FROM due WHERE lane BETWEEN c.id * 10 AND c.id * 10 + 9 LIMIT 1000000) x),
       (SELECT extract(epoch FROM now() - min(x.at))::float8 FROM (
            SELECT (SELECT due_at FROM due WHERE lane = l.lane AND due_at <= now() ORDER BY due_at LIMIT 1) AS at
            FROM generate_series(c.id * 10, c.id * 10 + 2) l(lane)) x),
       (SELECT count(*)::int8 FROM (SELECT 1 FROM unknown_outcomes WHERE channel = c.id LIMIT 1000000) x),
       (SELECT extract(epoch FROM now() - min(since))::float8 FROM unknown_outcomes WHERE channel = c.id),
       (SELECT count(*)::int8 FROM (SELECT 1 FROM due WHERE lane < 0 AND channel = c.id LIMIT 1000000) x)
FROM unnest($1::int4[]) c(id)
