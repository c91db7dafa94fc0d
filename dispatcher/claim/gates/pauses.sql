-- The pauses that hold now.
-- returns: id int, kind int, name text, number of the message type int (NULL = not a type, or unknown), reason text,
--   until us bigint (NULL = until it is resumed)
SELECT p.id, p.kind, p.name, (SELECT n.id FROM names n WHERE n.kind = 3 AND n.name = p.name AND p.kind = 3), p.reason,
       (extract(epoch FROM p.until) * 1000000)::int8
FROM pauses p
WHERE p.until IS NULL OR p.until > now()
ORDER BY p.id
