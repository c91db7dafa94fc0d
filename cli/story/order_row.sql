-- One order. $1 its bucket, $2 its id.
-- returns: state text (NULL = a placeholder), version int, created us bigint
SELECT s.name, o.version, (extract(epoch FROM o.created_at) * 1000000)::int8
FROM orders o LEFT JOIN names s ON s.kind = 2 AND s.id = o.state
WHERE o.bucket = $1::int4 AND o.order_id = $2::text COLLATE "C"
