-- Lists the addresses of deliveries whose recipients want no more of that message type.
-- returns: nothing
INSERT INTO suppressions (channel, type, reason, key, address, source)
SELECT DISTINCT ON (address_key(1, d.address), n.type) 1, n.type, 3, address_key(1, d.address), d.address, 'unsubscribe'
FROM unnest($1::int4[], $2::uuid[], $3::int4[]) u(b, n, rd)
JOIN deliveries d ON d.bucket = ANY(ARRAY[u.b]) AND d.notification_id = u.n AND d.channel = 1 AND d.target = ''
    AND d.redrive = u.rd
JOIN notifications n ON n.bucket = ANY(ARRAY[u.b]) AND n.notification_id = u.n
ORDER BY address_key(1, d.address), n.type
ON CONFLICT DO NOTHING
