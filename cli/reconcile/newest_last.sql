-- Of two messages with one collapse id on one channel the older was not taken, nor may have been, after the newer. $1 seconds.
-- returns: judged bigint, broken bigint, out of reach bigint, examples text[], remark text
WITH taken AS MATERIALIZED (
    SELECT d.bucket, d.collapse, d.channel, d.notification_id, d.order_version, d.created_at, min(a.at) AS first_at,
           max(a.at) AS last_at
    FROM deliveries d JOIN attempts a USING (bucket, notification_id, channel, target, redrive)
    WHERE d.collapse IS NOT NULL AND d.redrive = 0 AND a.outcome IN (1, 4)
      AND d.created_at > now() - $1::int8 * interval '1 second'
    GROUP BY 1, 2, 3, 4, 5, 6
), x AS MATERIALIZED (
    SELECT replace(old.notification_id::text, '-', '') AS ref,
           EXISTS (SELECT FROM taken new
                   WHERE new.bucket = old.bucket AND new.collapse = old.collapse AND new.channel = old.channel
                     AND (new.order_version, new.created_at) > (old.order_version, old.created_at)
                     AND new.first_at < old.last_at) AS bad
    FROM taken old
)
SELECT count(*), count(*) FILTER (WHERE bad), 0::bigint, ARRAY(SELECT ref FROM x WHERE bad ORDER BY ref LIMIT 5), NULL::text
FROM x
