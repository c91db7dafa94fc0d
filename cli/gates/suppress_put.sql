-- Suppresses an address by hand: $1 channel, $2 message (0 = all), $3 address, $4 who, $5 why.
-- returns: is it new bool
WITH made AS (
    INSERT INTO suppressions (channel, type, reason, key, address, source, note)
    VALUES ($1::int4, $2::int4, 5, address_key($1::int4, $3::text), address_normal($1::int4, $3::text), $4::text, $5::text)
    ON CONFLICT DO NOTHING
    RETURNING key
), audited AS (
    INSERT INTO audit (actor, action, object, reason, detail)
    SELECT $4::text, 'suppress.add', format('suppression/%s/%s/%s', $1::int4, $2::int4, encode(key, 'hex')), $5::text, '{}'
    FROM made
)
SELECT EXISTS (SELECT 1 FROM made)
