-- Every cap slot is of a delivery. One that is held though its delivery has ended is settled by whoever asks its cap next.
-- returns: judged bigint, broken bigint, out of reach bigint, examples text[], remark text
WITH x AS MATERIALIZED (
    SELECT replace(s.notification_id::text, '-', '') AS ref,
           NOT EXISTS (SELECT FROM deliveries d
                       WHERE d.bucket = s.of_bucket AND d.notification_id = s.notification_id AND d.channel = s.channel
                         AND d.redrive = s.redrive)
           OR coalesce(s.taken_at > s.used_at, false) AS bad, false AS gone
    FROM cap_slots s
)
SELECT count(*) FILTER (WHERE NOT (bad AND gone)), count(*) FILTER (WHERE bad AND NOT gone),
       count(*) FILTER (WHERE bad AND gone), ARRAY(SELECT ref FROM x WHERE bad AND NOT gone ORDER BY ref LIMIT 5),
       NULL::text
FROM x
