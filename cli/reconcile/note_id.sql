-- A notification's id is the hash of its once key: an intent is one for ever (common/keys.h). $1 seconds.
-- returns: judged bigint, broken bigint, out of reach bigint, examples text[], remark text
WITH x AS MATERIALIZED (
    SELECT replace(notification_id::text, '-', '') AS ref,
           uuid_send(notification_id) <> substring(sha256(int8send(12) || 'notification'::bytea
               || int8send(octet_length(once)) || convert_to(once, 'UTF8')) FROM 1 FOR 16) AS bad,
           false AS gone
    FROM notifications WHERE created_at > now() - $1::int8 * interval '1 second'
)
SELECT count(*) FILTER (WHERE NOT (bad AND gone)), count(*) FILTER (WHERE bad AND NOT gone),
       count(*) FILTER (WHERE bad AND gone), ARRAY(SELECT ref FROM x WHERE bad AND NOT gone ORDER BY ref LIMIT 5),
       NULL::text
FROM x
