-- Locks the batch's orders in key order. ANY(ARRAY[..]) here and elsewhere: an equality could be merged on, for which the
-- planner offers to walk the whole index, and a plan made while the table was empty would keep doing that.
-- returns: bucket, order_id, state, version, waiting, done int[], seq_source int[], seq_last bigint[], contact, data
SELECT o.bucket, o.order_id, o.state, o.version, o.waiting, o.done, o.seq_source, o.seq_last, o.contact, o.data
FROM unnest($1::int4[], $2::text[]) u(b, o)
JOIN orders o ON o.bucket = ANY(ARRAY[u.b]) AND o.order_id = u.o COLLATE "C"
ORDER BY u.b, u.o COLLATE "C"
FOR UPDATE OF o
