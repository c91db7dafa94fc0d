-- Every event that was accepted, or parked by its judgement, was judged: a move says so, or a receipt, in the transaction that
-- took it in. $1 seconds.
-- returns: judged bigint, broken bigint, out of reach bigint, examples text[], remark text
WITH h AS (SELECT coalesce(max(newest), '-infinity') AS at FROM emptied WHERE ring IN ('moves', 'receipts')), x AS MATERIALIZED (
    SELECT b.event_id AS ref, j.event_id IS NULL AS bad, b.received_at <= h.at AS gone
    FROM bodies b CROSS JOIN h
    LEFT JOIN (SELECT source, scope, event_id FROM moves WHERE at > now() - $1::int8 * interval '1 second'
               UNION
               SELECT source, scope, event_id FROM receipts WHERE at > now() - $1::int8 * interval '1 second') j
        USING (source, scope, event_id)
    WHERE (b.outcome = 1 OR (b.outcome = 6 AND b.reason IS NULL)) AND b.received_at > now() - $1::int8 * interval '1 second'
)
SELECT count(*) FILTER (WHERE NOT (bad AND gone)), count(*) FILTER (WHERE bad AND NOT gone),
       count(*) FILTER (WHERE bad AND gone), ARRAY(SELECT ref FROM x WHERE bad AND NOT gone ORDER BY ref LIMIT 5),
       NULL::text
FROM x
