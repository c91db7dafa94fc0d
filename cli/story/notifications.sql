-- Notifications. Arrays: bucket, id.
-- returns: id uuid, type text, policy int, once text, at us bigint
SELECT n.notification_id, coalesce(m.name, '?'), n.policy, n.once, (extract(epoch FROM n.created_at) * 1000000)::int8
FROM unnest($1::int4[], $2::uuid[]) u(b, n)
JOIN notifications n ON n.bucket = u.b AND n.notification_id = u.n
LEFT JOIN names m ON m.kind = 3 AND m.id = n.type
ORDER BY n.created_at LIMIT 500
