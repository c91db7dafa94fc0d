-- Takes at most $1 rows of a look-up lane ($2): deliveries whose provider is to be asked what became of a try. The columns
-- from state on are NULL when that is settled by now: such a row is only deleted. One lane, so that the index has them in order.
-- returns: bucket, notification_id, channel, target, redrive, tries, state, provider, look-ups settle us, created us,
--   now us, ids of messages before, of which receipts said that they failed, text[] (NULL = none)
WITH chosen AS MATERIALIZED (
    SELECT ctid FROM due WHERE lane = $2::int4 AND due_at <= now() ORDER BY due_at LIMIT $1::int4 FOR UPDATE SKIP LOCKED
), taken AS (
    DELETE FROM due WHERE ctid = ANY(ARRAY(SELECT ctid FROM chosen))
    RETURNING bucket, notification_id, channel, target, redrive, tries
)
SELECT t.bucket, t.notification_id, t.channel, t.target, t.redrive, t.tries, d.state, d.provider,
       (extract(epoch FROM d.lookup_at) * 1000000)::int8, (extract(epoch FROM d.created_at) * 1000000)::int8,
       (extract(epoch FROM now()) * 1000000)::int8,
       CASE WHEN d.provider_id IS NOT NULL THEN ARRAY(
           SELECT d.provider_id
           UNION
           (SELECT x.provider_id FROM receipts x
            WHERE x.bucket = t.bucket AND x.notification_id = t.notification_id AND x.channel = t.channel AND x.redrive = t.redrive
              AND x.kind IN (3, 4, 5) AND x.provider_id IS NOT NULL
            LIMIT 64)) END
FROM taken t
LEFT JOIN LATERAL (
    SELECT x.state, x.provider, x.lookup_at, x.created_at, x.provider_id FROM deliveries x
    WHERE x.bucket = t.bucket AND x.notification_id = t.notification_id AND x.channel = t.channel
      AND x.target = t.target AND x.redrive = t.redrive AND x.tries = t.tries AND x.state IN (0, 9) AND x.lookup_at IS NOT NULL
    OFFSET 0) d ON true
ORDER BY 1, 2, 3, 4, 5
