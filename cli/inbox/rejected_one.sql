-- One refused request. $1 its id.
-- returns: received us bigint, source's name text, reason text, bytes of the whole body int, its sha256 when it is cut bytea,
--   method text, target bytea, peer text, header lines bytea, body bytea
SELECT (extract(epoch FROM r.received_at) * 1000000)::int8, coalesce(s.name, '?'), r.reason, r.body_bytes, r.body_sha256,
       coalesce(r.method, ''), coalesce(r.target, ''), r.peer, coalesce(r.headers, ''), coalesce(r.body, '')
FROM rejected r
LEFT JOIN names s ON s.kind = 1 AND s.id = r.source
WHERE r.id = $1::uuid AND r.left_out = 0 LIMIT 1
