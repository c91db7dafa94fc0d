-- Pauses something, or changes the pause that holds it. $1 kind (1 all, 2 channel, 3 message, 4 provider), $2 its name, $3 for
-- so many seconds (0 = until it is resumed), $4 who, $5 why, $6 how it is called.
-- returns: was it paused before bool
WITH changed AS (
    UPDATE pauses SET reason = $5::text, author = $4::text,
        until = CASE WHEN $3::int8 > 0 THEN now() + $3::int8 * interval '1 second' END
    WHERE kind = $1::int4 AND name = $2::text AND (until IS NULL OR until > now())
    RETURNING id
), made AS (
    INSERT INTO pauses (kind, name, reason, author, until)
    SELECT $1::int4, $2::text, $5::text, $4::text, CASE WHEN $3::int8 > 0 THEN now() + $3::int8 * interval '1 second' END
    WHERE NOT EXISTS (SELECT 1 FROM changed)
), audited AS (
    INSERT INTO audit (actor, action, object, reason, detail)
    VALUES ($4::text, 'pause', 'pause/' || $6::text, $5::text, format('{"seconds":%s}', $3::int8))
)
SELECT EXISTS (SELECT 1 FROM changed)
