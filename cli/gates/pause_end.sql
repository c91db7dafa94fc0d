-- Ends the pauses of something: $1 kind, $2 name, $3 who, $4 why, $5 how it is called.
-- returns: how many there were int
WITH ended AS (
    UPDATE pauses SET until = now()
    WHERE kind = $1::int4 AND name = $2::text AND (until IS NULL OR until > now())
    RETURNING id
), audited AS (
    INSERT INTO audit (actor, action, object, reason)
    SELECT $3::text, 'resume', 'pause/' || $5::text, $4::text WHERE EXISTS (SELECT 1 FROM ended)
)
SELECT count(*)::int4 FROM ended
