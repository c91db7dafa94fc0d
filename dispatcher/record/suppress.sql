-- Suppresses the addresses of deliveries whose refusal was just recorded. $7: why, $8: who says so, $9: in its words.
-- returns: channel int, reason int of each address that was not suppressed yet
INSERT INTO suppressions (channel, type, reason, key, address, source, note)
SELECT d.channel, 0, u.r, address_key(d.channel, d.address), d.address, u.s, coalesce(u.w, '')
FROM unnest($1::int4[], $2::uuid[], $3::int4[], $4::text[], $5::int4[], $6::int4[], $7::int4[], $8::text[], $9::text[])
     u(b, n, c, tg, rd, t, r, s, w)
-- OFFSET 0 keeps it a probe of the primary key.
CROSS JOIN LATERAL (
    SELECT x.channel, x.address FROM deliveries x
    WHERE x.bucket = u.b AND x.notification_id = u.n AND x.channel = u.c AND x.target = u.tg AND x.redrive = u.rd
      AND x.tries = u.t AND x.state = 3
    OFFSET 0) d
ORDER BY 1, 4 -- in one order everywhere
ON CONFLICT DO NOTHING
RETURNING channel, reason
