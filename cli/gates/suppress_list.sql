-- Suppressed addresses, newest first. $1 not older than so many seconds, $2 channel (-1 = any), $3 one address (NULL = all),
-- $4 at most so many.
-- returns: since us bigint, channel int, message text (NULL = all), reason int, address text, source text, note text
SELECT (extract(epoch FROM s.since) * 1000000)::int8, s.channel, m.name, s.reason, s.address, s.source, s.note
FROM suppressions s LEFT JOIN names m ON m.kind = 3 AND m.id = s.type
WHERE s.since > now() - $1::int8 * interval '1 second' AND ($2::int4 < 0 OR s.channel = $2::int4)
  AND ($3::text IS NULL OR s.key = address_key(s.channel, $3::text))
ORDER BY s.since DESC LIMIT $4::int4
