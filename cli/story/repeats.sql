-- Further copies of events, by event and outcome. Arrays: bucket, source, scope, event id.
-- returns: event_id text, source's name text, outcome int, count int, least age us bigint, most age us bigint,
--   first at us bigint
SELECT r.event_id, coalesce(s.name, '?'), r.outcome, count(*)::int4, (extract(epoch FROM min(r.age)) * 1000000)::int8,
       (extract(epoch FROM max(r.age)) * 1000000)::int8, (extract(epoch FROM min(r.at)) * 1000000)::int8
FROM unnest($1::int4[], $2::int4[], $3::text[], $4::text[]) u(b, s, sc, e)
JOIN repeats r ON r.bucket = u.b AND r.event_id = u.e COLLATE "C" AND r.source = u.s AND r.scope = u.sc COLLATE "C"
LEFT JOIN names s ON s.kind = 1 AND s.id = r.source
GROUP BY r.event_id, s.name, r.outcome
ORDER BY min(r.at) LIMIT 500
