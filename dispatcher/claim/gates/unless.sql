-- What became of notifications ($1, $2) on other channels ($3).
-- returns: ordinality int (from 1), accepted bool, delivered bool, due bool (waits for a try), wire bool (one is under way)
SELECT u.i::int4, coalesce(bool_or(d.state IN (2, 10, 12)), false), coalesce(bool_or(d.state IN (10, 12)), false),
       coalesce(bool_or(d.state = 0), false), coalesce(bool_or(d.state = 1), false)
FROM unnest($1::int4[], $2::uuid[], $3::int4[]) WITH ORDINALITY u(b, n, c, i)
-- OFFSET 0 keeps it a probe of the primary key.
CROSS JOIN LATERAL (
    SELECT x.state FROM deliveries x WHERE x.bucket = u.b AND x.notification_id = u.n AND x.channel = u.c
    OFFSET 0) d
GROUP BY u.i
