-- Lets an address get messages again: $1 channel, $2 message (0 = all), $3 address, $4 who, $5 why.
-- returns: was it suppressed bool, for which other messages it is text[] ('' = for all)
WITH gone AS (
    DELETE FROM suppressions
    WHERE channel = $1::int4 AND type = $2::int4 AND key = address_key($1::int4, $3::text)
    RETURNING key, reason, since
), audited AS (
    INSERT INTO audit (actor, action, object, reason, detail)
    SELECT $4::text, 'suppress.remove', format('suppression/%s/%s/%s', $1::int4, $2::int4, encode(key, 'hex')), $5::text,
           format('{"reason":%s}', reason)
    FROM gone
)
SELECT EXISTS (SELECT 1 FROM gone),
       ARRAY(SELECT coalesce(m.name, '') FROM suppressions s LEFT JOIN names m ON m.kind = 3 AND m.id = s.type
             WHERE s.channel = $1::int4 AND s.key = address_key($1::int4, $3::text) AND s.type <> $2::int4
             ORDER BY 1 LIMIT 50)
