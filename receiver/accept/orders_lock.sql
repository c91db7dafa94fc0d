-- Locks the batch's orders in key order.
-- returns: bucket, order_id, state, version, waiting, done int[], seq_source int[], seq_last bigint[], contact, data
SELECT o.bucket, o.order_id, o.state, o.version, o.waiting, o.done, o.seq_source, o.seq_last, o.contact, o.data
FROM unnest($1::int4[], $2::text[]) u(b, o)
JOIN orders o ON o.bucket = u.b AND o.order_id = u.o COLLATE "C"
ORDER BY o.bucket, o.order_id
FOR UPDATE OF o
