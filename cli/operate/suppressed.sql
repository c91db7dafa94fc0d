-- Which of what is sent anew goes to a suppressed address: of each $1 channel, $2 message and $3 address.
-- returns: which one int (from 1), reason int, message text (NULL = of all)
SELECT u.i::int4, x.reason, x.name
FROM unnest($1::int4[], $2::int4[], $3::text[]) WITH ORDINALITY u(c, type, address, i)
CROSS JOIN LATERAL (
    SELECT s.reason, m.name FROM suppressions s LEFT JOIN names m ON m.kind = 3 AND m.id = s.type
    WHERE s.channel = u.c AND s.key = address_key(u.c, u.address) AND s.type IN (0, u.type)
    ORDER BY s.type LIMIT 1) x
