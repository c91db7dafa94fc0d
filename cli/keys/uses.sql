-- When secrets matched, as receivers noted it.
-- returns: source's name text, secret text, first us bigint, last us bigint
SELECT n.name, u.secret, (extract(epoch FROM u.first_at) * 1000000)::int8, (extract(epoch FROM u.last_at) * 1000000)::int8
FROM secret_uses u
JOIN names n ON n.kind = 1 AND n.id = u.source
ORDER BY 1, 2
