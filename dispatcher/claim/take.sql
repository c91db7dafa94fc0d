-- Takes at most $1 due rows of three lanes ($2), a later lane only what the earlier ones left, each from its low-water
-- mark ($3, microseconds since the epoch) on; with what is needed to gate and render them. The columns from state on are
-- NULL when the delivery is in another step since the row was made; such a row is only deleted, and so is one whose state is
-- not 0.
-- returns: lane, due_at, bucket, notification_id, channel, target, redrive, tries, state, unknown_tries, delivery_order,
--   address, created_at, expires_at, retry_until, ring slot of its content (NULL = not rendered yet), provider,
--   provider_at (its first try), passed_on, free_tries, type, policy, once, data, now, suppressed int (the reason's number,
--   NULL = not), zone, doubt_at, order id, recipient, collapse, provider's id of the message before, which a receipt said
--   failed, not before
WITH one AS MATERIALIZED (
    SELECT ctid FROM due
    WHERE lane = ($2::int4[])[1] AND due_at <= now()
      AND due_at >= timestamptz 'epoch' + ($3::int8[])[1] * interval '1 microsecond'
    ORDER BY due_at LIMIT $1::int4 FOR UPDATE SKIP LOCKED
), two AS MATERIALIZED (
    SELECT ctid FROM due
    WHERE lane = ($2::int4[])[2] AND due_at <= now()
      AND due_at >= timestamptz 'epoch' + ($3::int8[])[2] * interval '1 microsecond'
    ORDER BY due_at LIMIT $1::int4 - (SELECT count(*) FROM one) FOR UPDATE SKIP LOCKED
), three AS MATERIALIZED (
    SELECT ctid FROM due
    WHERE lane = ($2::int4[])[3] AND due_at <= now()
      AND due_at >= timestamptz 'epoch' + ($3::int8[])[3] * interval '1 microsecond'
    ORDER BY due_at LIMIT $1::int4 - (SELECT count(*) FROM one) - (SELECT count(*) FROM two) FOR UPDATE SKIP LOCKED
), taken AS (
    -- = ANY(ARRAY(..)) and not IN (..): a semi join may run the locking scan again for each outer row.
    DELETE FROM due
    WHERE ctid = ANY(ARRAY(SELECT ctid FROM one UNION ALL SELECT ctid FROM two UNION ALL SELECT ctid FROM three))
    RETURNING bucket, lane, due_at, notification_id, channel, redrive, tries, target
)
SELECT t.lane, t.due_at, t.bucket, t.notification_id, t.channel, t.target, t.redrive, t.tries,
       d.state, d.unknown_tries, d.delivery_order, d.address, d.created_at, d.expires_at, d.retry_until,
       d.content_slot, d.provider, d.provider_at, d.passed_on, d.free_tries,
       n.type, coalesce(d.policy, n.policy), n.once, n.data, now(), s.reason, d.zone, d.doubt_at,
       n.order_id, d.recipient, d.collapse, d.provider_id, d.not_before
FROM taken t
-- OFFSET 0 keeps each look-up a probe of the primary key, whatever the statistics say.
LEFT JOIN LATERAL (
    SELECT x.state, x.unknown_tries, x.delivery_order, x.address, x.created_at, x.expires_at, x.retry_until, x.content_slot,
           x.provider, x.provider_at, x.passed_on, x.free_tries, x.zone,
           x.policy, x.doubt_at, x.recipient, x.collapse, x.provider_id, x.not_before
    FROM deliveries x
    WHERE x.bucket = t.bucket AND x.notification_id = t.notification_id AND x.channel = t.channel
      AND x.target = t.target AND x.redrive = t.redrive AND x.tries = t.tries
    OFFSET 0) d ON true
LEFT JOIN LATERAL (
    SELECT x.type, x.policy, x.once, x.data, x.order_id FROM notifications x
    WHERE x.bucket = t.bucket AND x.notification_id = t.notification_id
    OFFSET 0) n ON true
-- Nothing is hashed while no address is suppressed.
LEFT JOIN LATERAL (
    SELECT min(x.reason) AS reason FROM suppressions x
    WHERE (SELECT count(*) FROM (SELECT 1 FROM suppressions WHERE channel IN (1, 2, 3) LIMIT 1) any_at_all) > 0
      AND x.channel = t.channel AND x.key = address_key(t.channel, d.address) AND x.type IN (0, n.type)
    OFFSET 0) s ON true
