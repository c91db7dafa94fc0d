-- Numbers the names that have none yet, after the highest of their kind: a number is never given twice.
-- returns: nothing
INSERT INTO names (kind, id, name)
SELECT u.kind,
       coalesce((SELECT max(n.id) FROM names n WHERE n.kind = u.kind), 0)
           + row_number() OVER (PARTITION BY u.kind ORDER BY u.ord),
       u.name
FROM unnest($1::int4[], $2::text[]) WITH ORDINALITY u(kind, name, ord)
WHERE NOT EXISTS (SELECT 1 FROM names n WHERE n.kind = u.kind AND n.name = u.name)
