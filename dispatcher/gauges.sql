-- What waits and what is in doubt, a channel a row; counts stop at a million, so that the figure stays cheap.
-- returns: channel, due, age s of the oldest that is due now (NULL = none), unknown, age s of the oldest unknown,
--   held by pauses
WITH unsure AS MATERIALIZED (
    SELECT channel, count(*) AS n, min(since) AS since FROM (SELECT channel, since FROM unknown_outcomes LIMIT 1000000) x GROUP BY channel
), held AS MATERIALIZED (
    SELECT channel, count(*) AS n FROM (SELECT channel FROM due WHERE lane < 0 LIMIT 1000000) x GROUP BY channel
)
SELECT c.id,
       (SELECT count(*)::int8 FROM (
            SELECT 1 FROM due WHERE lane BETWEEN c.id * 10 AND c.id * 10 + 9 LIMIT 1000000) x),
       (SELECT extract(epoch FROM now() - min(x.at))::float8 FROM (
            SELECT (SELECT due_at FROM due WHERE lane = l.lane AND due_at <= now() ORDER BY due_at LIMIT 1) AS at
            FROM generate_series(c.id * 10, c.id * 10 + 2) l(lane)) x),
       coalesce((SELECT n FROM unsure WHERE channel = c.id), 0)::int8,
       (SELECT extract(epoch FROM now() - since)::float8 FROM unsure WHERE channel = c.id),
       coalesce((SELECT n FROM held WHERE channel = c.id), 0)::int8
FROM unnest($1::int4[]) c(id)
