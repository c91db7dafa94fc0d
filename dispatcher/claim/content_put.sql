-- Stores what first tries rendered, in the ring slot of this transaction's moment (wire.sql notes the same slot).
-- The slot is worked out once and not for each row.
-- returns: nothing
INSERT INTO contents (slot, bucket, channel, notification_id, redrive, target, at, content)
SELECT (SELECT ring_slot(now(), 172800)), u.b, u.c, u.n, u.rd, u.tg, now(), u.x
FROM (SELECT unnest($1::int4[]) AS b, unnest($2::uuid[]) AS n, unnest($3::int4[]) AS c, unnest($4::text[]) AS tg,
             unnest($5::int4[]) AS rd, unnest($6::text[]) AS x) u
