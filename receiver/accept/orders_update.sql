-- One row an order that changed; the guard repeats the version it was judged at. done, seq_source and seq_last come as
-- array literals of numbers.
-- returns: nothing; the count must be the number of orders
UPDATE orders o
SET state = u.s, version = u.v, waiting = u.w, contact = u.c, data = u.d, updated_at = now(),
    done = u.dn::int4[], seq_source = u.qs::int4[], seq_last = u.ql::int8[]
FROM unnest($1::int4[], $2::text[], $3::int4[], $4::int4[], $5::int4[], $6::int4[], $7::text[], $8::text[], $9::text[],
            $10::text[], $11::text[]) u(b, o, v0, s, v, w, c, d, dn, qs, ql)
WHERE o.bucket = ANY(ARRAY[u.b]) AND o.order_id = u.o COLLATE "C" AND o.version = u.v0
