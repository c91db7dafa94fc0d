-- Every notification has a delivery for each active step of its message. $1 seconds; of each such step $2 policy version,
-- $3 message, $4 channel.
-- returns: judged bigint, broken bigint, out of reach bigint, examples text[], remark text
WITH steps AS MATERIALIZED (
    SELECT * FROM unnest($2::int4[], $3::int4[], $4::int4[]) u(policy, message, channel)
), x AS MATERIALIZED (
    SELECT replace(n.notification_id::text, '-', '') AS ref, d.channel IS NULL AS bad, false AS gone
    FROM notifications n
    JOIN steps s ON s.policy = n.policy AND s.message = n.type
    LEFT JOIN (SELECT DISTINCT bucket, notification_id, channel FROM deliveries WHERE redrive = 0) d
        ON d.bucket = n.bucket AND d.notification_id = n.notification_id AND d.channel = s.channel
    WHERE n.created_at > now() - $1::int8 * interval '1 second'
)
SELECT count(*) FILTER (WHERE NOT (bad AND gone)), count(*) FILTER (WHERE bad AND NOT gone),
       count(*) FILTER (WHERE bad AND gone), ARRAY(SELECT ref FROM x WHERE bad AND NOT gone ORDER BY ref LIMIT 5),
       NULL::text
FROM x
