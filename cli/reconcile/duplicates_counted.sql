-- Every try after one that the provider may have taken is counted as a possible duplicate, unless a receipt said that it surely
-- failed: as many as were said to, since a receipt is stored with the step that was the last when it came. Also told: how many there are. $1 seconds.
-- returns: judged bigint, broken bigint, out of reach bigint, examples text[], remark text
WITH h AS (SELECT coalesce(max(newest), '-infinity') AS at FROM emptied WHERE ring = 'attempts'), y AS (
    SELECT replace(d.notification_id::text, '-', '') AS ref, d.possible_duplicates AS told,
           d.created_at <= h.at AS old, coalesce(a.unmarked, false) AS unmarked,
           coalesce(a.marked, 0) + (d.state = 1 AND d.unknown_tries > 0)::int4 AS want
    FROM deliveries d CROSS JOIN h
    LEFT JOIN (SELECT bucket, notification_id, channel, target, redrive,
                      count(*) FILTER (WHERE possible_duplicate AND outcome <> 5) AS marked,
                      bool_or(after AND outcome < 5 AND NOT possible_duplicate) AS unmarked
               FROM (SELECT bucket, notification_id, channel, target, redrive, outcome, possible_duplicate,
                            sum((outcome IN (1, 4))::int4 - coalesce(failed, 0)) OVER before > 0 AS after
                     FROM attempts
                     LEFT JOIN (SELECT bucket, notification_id, channel, target, redrive, step, count(*)::int4 AS failed
                                FROM receipts WHERE outcome = 1 AND from_state <> 1 AND to_state = 0
                                GROUP BY 1, 2, 3, 4, 5, 6) f
                         USING (bucket, notification_id, channel, target, redrive, step)
                     WINDOW before AS (PARTITION BY bucket, notification_id, channel, target, redrive ORDER BY step
                                       ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)) e
               GROUP BY 1, 2, 3, 4, 5) a USING (bucket, notification_id, channel, target, redrive)
    WHERE d.delivery_order <> 1 AND d.created_at > now() - $1::int8 * interval '1 second'
), x AS MATERIALIZED (
    SELECT ref, told, told <> want OR unmarked AS bad, told > want AND NOT unmarked AND old AS gone FROM y
)
SELECT count(*) FILTER (WHERE NOT (bad AND gone)), count(*) FILTER (WHERE bad AND NOT gone),
       count(*) FILTER (WHERE bad AND gone), ARRAY(SELECT ref FROM x WHERE bad AND NOT gone ORDER BY ref LIMIT 5),
       (SELECT sum(told) || ' possible duplicates' FROM x HAVING sum(told) > 0)
FROM x
