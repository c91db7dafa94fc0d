-- What became of the copies of one event, in the order they were taken in. While two generations overlap a first copy has
-- a row of keys in each: it is read once. $1 every bucket, $2 the event's id, $3 the source's name, $4 how many were there
-- before.
-- returns: outcome int (event outcome), age bigint in microseconds (0 for the first copy)
SELECT x.outcome, x.age_us
FROM (
    SELECT coalesce(b.outcome, 1) AS outcome, 0::int8 AS age_us, k.first_at AS at
    FROM (
        SELECT DISTINCT ON (z.bucket, z.event_id, z.source, z.scope, z.arrival) z.*
        FROM names s
        JOIN keys z ON z.bucket = ANY($1::int4[]) AND z.event_id = $2::text COLLATE "C" AND z.source = s.id
        WHERE s.kind = 1 AND s.name = $3::text
        ORDER BY z.bucket, z.event_id, z.source, z.scope, z.arrival, z.first_at) k
    LEFT JOIN LATERAL (
        SELECT y.outcome FROM bodies y
        WHERE y.received_at = k.first_at AND y.bucket = k.bucket AND y.event_id = k.event_id AND y.source = k.source
          AND y.arrival = k.arrival
        LIMIT 1) b ON true
    UNION ALL
    SELECT r.outcome, (extract(epoch FROM r.age) * 1000000)::int8, r.at
    FROM names s
    JOIN repeats r ON r.bucket = ANY($1::int4[]) AND r.event_id = $2::text COLLATE "C" AND r.source = s.id
    WHERE s.kind = 1 AND s.name = $3::text
) x
ORDER BY x.at, (x.age_us > 0), x.age_us
OFFSET $4::int8 LIMIT 1000
