-- What waits for longer than it should. Counts stop at a million. $1 how long events may wait for their step, in seconds.
-- returns: unknown bigint, age s of the oldest float8, due bigint, age s of the oldest due float8, events that waited
--   too long bigint
SELECT (SELECT count(*) FROM (SELECT 1 FROM unknown_outcomes LIMIT 1000000) x),
       (SELECT extract(epoch FROM now() - min(since))::float8 FROM unknown_outcomes),
       (SELECT count(*) FROM (SELECT 1 FROM due WHERE due_at <= now() LIMIT 1000000) x),
       (SELECT extract(epoch FROM now() - min(due_at))::float8 FROM due WHERE due_at <= now()),
       (SELECT count(*) FROM (SELECT 1 FROM waiting WHERE since < now() - $1::int8 * interval '1 second' LIMIT 1000000) x)
