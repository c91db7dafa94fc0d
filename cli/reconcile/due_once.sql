-- Nothing is in `due` twice, and all of it is of deliveries. A row whose delivery moved on is allowed: a claim drops it. So is
-- one of a look-up (lane 9) beside one to be sent, and one from before a receipt made its delivery due again.
-- returns: judged bigint, broken bigint, out of reach bigint, examples text[], remark text
WITH x AS MATERIALIZED (
    SELECT replace(u.notification_id::text, '-', '') AS ref, (u.n > 1 AND d.not_before IS NULL) OR d.state IS NULL AS bad, false AS gone
    FROM (SELECT bucket, notification_id, channel, target, redrive, tries, lane % 10 = 9, count(*) AS n FROM due
          GROUP BY 1, 2, 3, 4, 5, 6, 7) u
    LEFT JOIN deliveries d USING (bucket, notification_id, channel, target, redrive)
)
SELECT count(*) FILTER (WHERE NOT (bad AND gone)), count(*) FILTER (WHERE bad AND NOT gone),
       count(*) FILTER (WHERE bad AND gone), ARRAY(SELECT ref FROM x WHERE bad AND NOT gone ORDER BY ref LIMIT 5),
       NULL::text
FROM x
