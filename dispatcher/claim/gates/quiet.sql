-- Is it a quiet hour where the recipient is? A window from $3 to $4 (wall times, perhaps over midnight) in zone $2, each at
-- the moment $1 (microseconds since the epoch, of the database's clock). Quiet is when the clock on the wall shows a time in
-- the window; it ends when the clock first shows that end or a later time: where an hour is missing, with the jump.
-- returns: ordinality int (from 1), until us bigint (NULL = not quiet), that moment's wall time text
WITH asked AS MATERIALIZED (
    SELECT u.i, u.z, u.f, u.t, timestamptz 'epoch' + u.at * interval '1 microsecond' AS at,
           (timestamptz 'epoch' + u.at * interval '1 microsecond') AT TIME ZONE u.z AS wall
    FROM unnest($1::int8[], $2::text[], $3::text[], $4::text[]) WITH ORDINALITY x(at, z, f, t, i),
         LATERAL (SELECT x.i, x.at, x.z, x.f::time AS f, x.t::time AS t) u
), within AS MATERIALIZED (
    -- The wall time at which the window ends that it is in; NULL = in none.
    SELECT a.*, CASE
        WHEN a.f < a.t AND a.wall::time >= a.f AND a.wall::time < a.t THEN a.wall::date + a.t
        WHEN a.f > a.t AND a.wall::time >= a.f THEN a.wall::date + 1 + a.t
        WHEN a.f > a.t AND a.wall::time < a.t THEN a.wall::date + a.t
        END AS ends
    FROM asked a
), until AS MATERIALIZED (
    SELECT w.i, w.z, CASE
        -- No change of the clock around it: the plain way.
        WHEN (w.ends AT TIME ZONE w.z + interval '4 hours') AT TIME ZONE w.z
             - (w.ends AT TIME ZONE w.z - interval '4 hours') AT TIME ZONE w.z = interval '8 hours'
        THEN w.ends AT TIME ZONE w.z
        -- The first minute after now at which the wall shows that time or a later one. A time that the wall shows twice
        -- counts the first time.
        ELSE (SELECT min(m) FROM generate_series(date_trunc('minute', greatest(w.at, w.ends AT TIME ZONE w.z - interval '4 hours')),
                                                 w.ends AT TIME ZONE w.z + interval '4 hours', interval '1 minute') m
              WHERE m > w.at AND m AT TIME ZONE w.z >= w.ends)
        END AS at
    FROM within w WHERE w.ends IS NOT NULL
)
SELECT i::int4, (extract(epoch FROM at) * 1000000)::int8, to_char(at AT TIME ZONE z, 'HH24:MI') FROM until
