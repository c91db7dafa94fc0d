-- Every delivery without an end can be sent: its content is stored, or the values it will be rendered from. $1 seconds.
-- returns: judged bigint, broken bigint, out of reach bigint, examples text[], remark text
WITH x AS MATERIALIZED (
    SELECT replace(d.notification_id::text, '-', '') AS ref,
           CASE WHEN d.content_slot IS NULL THEN n.data IS NULL ELSE c.channel IS NULL END AS bad, false AS gone
    FROM deliveries d
    LEFT JOIN notifications n USING (bucket, notification_id)
    LEFT JOIN (SELECT DISTINCT slot, bucket, notification_id, channel, target, redrive FROM contents) c
        ON c.slot = d.content_slot AND c.bucket = d.bucket AND c.notification_id = d.notification_id
       AND c.channel = d.channel AND c.target = d.target AND c.redrive = d.redrive
    WHERE d.state IN (0, 1) AND d.created_at > now() - $1::int8 * interval '1 second'
)
SELECT count(*) FILTER (WHERE NOT (bad AND gone)), count(*) FILTER (WHERE bad AND NOT gone),
       count(*) FILTER (WHERE bad AND gone), ARRAY(SELECT ref FROM x WHERE bad AND NOT gone ORDER BY ref LIMIT 5),
       NULL::text
FROM x
