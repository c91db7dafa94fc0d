-- Refused requests that are kept, newest first, and how many more there were. $1 not older than so many seconds, $2 at most
-- so many, $3 only of this source, $4 only for this reason (NULL = any).
-- returns: id uuid, received us bigint, last us bigint, source's name text, reason text, left out bigint, bytes of the whole
--   body int, cut boolean, peer text
SELECT r.id, (extract(epoch FROM r.received_at) * 1000000)::int8, (extract(epoch FROM r.last_at) * 1000000)::int8, s.name,
       r.reason, r.left_out, r.body_bytes, r.body_sha256 IS NOT NULL, r.peer
FROM (
    SELECT * FROM rejected x
    WHERE x.at > now() - $1::int8 * interval '1 second'
      AND ($3::text IS NULL OR x.source = (SELECT n.id FROM names n WHERE n.kind = 1 AND n.name = $3::text))
      AND ($4::text IS NULL OR x.reason = $4::text)
    ORDER BY x.received_at DESC LIMIT $2::int4) r
LEFT JOIN names s ON s.kind = 1 AND s.id = r.source
ORDER BY r.received_at DESC
