-- The policy versions that moves and notifications were made under, newest first, at most $2. $1 seconds.
-- returns: version int
SELECT version FROM (
    SELECT policy AS version FROM moves WHERE at > now() - $1::int8 * interval '1 second'
    UNION
    SELECT policy FROM notifications WHERE created_at > now() - $1::int8 * interval '1 second') x
ORDER BY version DESC LIMIT $2::int4
