-- Lists addresses that get nothing more by their channel, whatever the message.
-- returns: nothing
INSERT INTO suppressions (channel, type, reason, key, address, source)
SELECT u.c, 0, u.r, address_key(u.c, u.a), u.a, u.s
FROM unnest($1::int4[], $2::int4[], $3::text[], $4::text[]) u(c, r, a, s)
ORDER BY u.c, address_key(u.c, u.a)
ON CONFLICT DO NOTHING
