-- Every applied move whose policy version has a message for its state has a notification of that message, and an event that
-- was applied without an order, which does nothing but notify, has its own. $1 seconds; of each such message $2 policy version,
-- $3 state, $4 message.
-- returns: judged bigint, broken bigint, out of reach bigint, examples text[], remark text
WITH owed AS MATERIALIZED (
    SELECT * FROM unnest($2::int4[], $3::int4[], $4::int4[]) u(policy, state, message)
), x AS MATERIALIZED (
    SELECT m.event_id AS ref, n.order_id IS NULL AS bad, false AS gone
    FROM moves m
    JOIN owed ON owed.policy = m.policy AND owed.state = m.to_state
    LEFT JOIN (SELECT DISTINCT bucket, order_id, type FROM notifications) n
        ON n.bucket = m.bucket AND n.order_id = m.order_id AND n.type = owed.message
    WHERE m.outcome = 1 AND m.order_id IS NOT NULL AND m.at > now() - $1::int8 * interval '1 second'
    UNION ALL
    SELECT m.event_id, n.event_id IS NULL, false
    FROM moves m
    LEFT JOIN (SELECT DISTINCT source, scope, event_id FROM notifications WHERE order_id IS NULL) n
        USING (source, scope, event_id)
    WHERE m.outcome = 1 AND m.order_id IS NULL AND m.at > now() - $1::int8 * interval '1 second'
)
SELECT count(*) FILTER (WHERE NOT (bad AND gone)), count(*) FILTER (WHERE bad AND NOT gone),
       count(*) FILTER (WHERE bad AND gone), ARRAY(SELECT ref FROM x WHERE bad AND NOT gone ORDER BY ref LIMIT 5),
       NULL::text
FROM x
