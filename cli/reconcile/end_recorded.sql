-- A delivery's end is what its attempts say: accepted and refused by the last one, unknown by any; accepted also because its
-- provider (7) or a person (9) said so afterwards; any because a receipt did, and what came of it afterwards (10, 11, 12) by
-- nothing else. $1 seconds.
-- returns: judged bigint, broken bigint, out of reach bigint, examples text[], remark text
WITH h AS (SELECT coalesce(max(newest) FILTER (WHERE ring = 'attempts'), '-infinity') AS at,
                  coalesce(max(newest) FILTER (WHERE ring = 'receipts'), '-infinity') AS receipts FROM emptied), x AS MATERIALIZED (
    SELECT replace(d.notification_id::text, '-', '') AS ref,
           NOT coalesce(CASE d.state WHEN 2 THEN a.ended = 1 OR a.settled WHEN 3 THEN a.ended = 2 WHEN 9 THEN a.doubtful END, false)
           AND r.told IS NULL AS bad,
           CASE WHEN d.state > 9 THEN d.created_at <= h.receipts ELSE a.ended IS NULL AND d.created_at <= h.at END AS gone
    FROM deliveries d CROSS JOIN h
    LEFT JOIN (SELECT bucket, notification_id, channel, target, redrive,
                      (array_agg(outcome ORDER BY step DESC) FILTER (WHERE outcome <= 5))[1] AS ended,
                      bool_or(outcome IN (7, 9)) AS settled, bool_or(outcome = 4) AS doubtful
               FROM attempts GROUP BY 1, 2, 3, 4, 5) a USING (bucket, notification_id, channel, target, redrive)
    LEFT JOIN (SELECT DISTINCT bucket, notification_id, channel, target, redrive, to_state AS state, true AS told
               FROM receipts WHERE outcome = 1) r USING (bucket, notification_id, channel, target, redrive, state)
    WHERE d.state IN (2, 3, 9, 10, 11, 12) AND d.created_at > now() - $1::int8 * interval '1 second'
)
SELECT count(*) FILTER (WHERE NOT (bad AND gone)), count(*) FILTER (WHERE bad AND NOT gone),
       count(*) FILTER (WHERE bad AND gone), ARRAY(SELECT ref FROM x WHERE bad AND NOT gone ORDER BY ref LIMIT 5),
       NULL::text
FROM x
