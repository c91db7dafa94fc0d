-- The pauses, those that hold first; how many deliveries each holds, counted to a million.
-- returns: kind int, name text, since us bigint, until us bigint (NULL = until it is resumed), holds bool, author text,
--   reason text, held bigint
SELECT p.kind, p.name, (extract(epoch FROM p.since) * 1000000)::int8, (extract(epoch FROM p.until) * 1000000)::int8,
       p.until IS NULL OR p.until > now() AS holds, p.author, p.reason,
       (SELECT count(*) FROM (SELECT 1 FROM due WHERE lane BETWEEN -(p.id * 100 + 99) AND -(p.id * 100) LIMIT 1000000) x)
FROM pauses p ORDER BY 5 DESC, p.since DESC LIMIT $1::int4
