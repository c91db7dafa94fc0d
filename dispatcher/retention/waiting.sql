-- Events that wait for a step or an order, and those that waited longer than $1 s: they need a person. The count stops at
-- a million.
-- returns: waiting bigint, age s of the oldest float8 (NULL = none), expired bigint, age s of the oldest float8
SELECT count(*) FILTER (WHERE age < $1::int8), max(age) FILTER (WHERE age < $1::int8),
       count(*) FILTER (WHERE age >= $1::int8), max(age) FILTER (WHERE age >= $1::int8)
FROM (SELECT extract(epoch FROM now() - since)::float8 AS age FROM waiting LIMIT 1000000) x
