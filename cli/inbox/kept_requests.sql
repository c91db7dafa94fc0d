-- Kept requests of a source in the order they came: $1 not older than so many seconds, $2 the source's number, those behind
-- $3 (received, us) and $4 (id), $5 at most so many. The receiver's own, to verify them again.
-- returns: id uuid, received us bigint, reason text, method text, target bytea, header lines bytea, body bytea, cut boolean
SELECT id, (extract(epoch FROM received_at) * 1000000)::int8, reason, coalesce(method, ''), coalesce(target, ''),
       coalesce(headers, ''), coalesce(body, ''), body_sha256 IS NOT NULL
FROM rejected
WHERE at > now() - $1::int8 * interval '1 second' AND source = $2::int4 AND left_out = 0
  AND (received_at, id) > ('epoch'::timestamptz + $3::int8 * interval '1 microsecond', $4::uuid)
ORDER BY received_at, id LIMIT $5::int4
