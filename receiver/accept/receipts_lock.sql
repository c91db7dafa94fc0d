-- Locks the deliveries that receipts name, in the order in which a record locks them; those of a channel without targets.
-- returns: n int (index), state, tries, delivery_order, type int (of the message), address, provider_id, now us, expires us,
--   retry_until us, its provider is to be asked first, a try that others follow is in doubt, provider, ids of earlier tries that
--   failed, by receipts, text[] (NULL = not more than one try)
WITH u AS MATERIALIZED ( -- the target as a column: a constant invites a walk over all of an index
    SELECT x.*, ''::text AS tg
    FROM unnest($1::int4[], $2::uuid[], $3::int4[], $4::int4[]) WITH ORDINALITY x(b, n, c, rd, i)
)
SELECT u.i::int4 - 1, d.state, d.tries, d.delivery_order, n.type, d.address, d.provider_id,
       (extract(epoch FROM now()) * 1000000)::int8, (extract(epoch FROM d.expires_at) * 1000000)::int8,
       (extract(epoch FROM d.retry_until) * 1000000)::int8, d.lookup_at IS NOT NULL,
       d.unknown_tries > 0, d.provider,
       CASE WHEN d.tries > 1 THEN ARRAY(
           SELECT DISTINCT x.provider_id FROM receipts x
           WHERE x.bucket = u.b AND x.notification_id = u.n AND x.channel = u.c AND x.redrive = u.rd AND x.kind IN (3, 4, 5)
             AND x.provider_id IS NOT NULL
           LIMIT 64) END
FROM u
JOIN deliveries d ON d.bucket = ANY(ARRAY[u.b]) AND d.notification_id = u.n AND d.channel = u.c AND d.target = u.tg
    AND d.redrive = u.rd
LEFT JOIN LATERAL ( -- with OFFSET 0 a probe of the key, as orders_lock.sql says
    SELECT x.type FROM notifications x WHERE x.bucket = u.b AND x.notification_id = u.n
    OFFSET 0) n ON true
ORDER BY u.b, u.n, u.c, u.rd
FOR UPDATE OF d
