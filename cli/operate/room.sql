-- Which caps have no room for what is sent anew: of each $1 its delivery (from 1), $2 bucket, $3 name and $4 most of the cap, $5
-- notification and $6 channel. A slot that is held by an end which surely did not arrive is about to be given back (cap_settle.sql).
-- returns: which delivery int, cap text, whether a delivery of the same message holds a slot of it bool
SELECT u.i, u.k, x.own
FROM unnest($1::int4[], $2::int4[], $3::text[], $4::int4[], $5::uuid[], $6::int4[]) u(i, b, k, most, n, c)
CROSS JOIN LATERAL (
    SELECT count(*) AS used, coalesce(bool_or(s.notification_id = u.n AND s.channel = u.c), false) AS own
    FROM cap_slots s
    WHERE s.bucket = u.b AND s.cap = u.k
      AND CASE WHEN s.used_at IS NOT NULL THEN s.used_at + s.in_ms * interval '1 millisecond' >= now()
               ELSE EXISTS (SELECT FROM deliveries d
                            WHERE d.bucket = s.of_bucket AND d.notification_id = s.notification_id AND d.channel = s.channel
                              AND d.redrive = s.redrive AND (d.state IN (0, 1, 2, 9, 10, 11, 12) OR d.unknown_tries > 0)) END
    OFFSET 0) x
WHERE x.used >= u.most
