-- Every notification that a move lists is there, made by that event at that version. $1 seconds.
-- returns: judged bigint, broken bigint, out of reach bigint, examples text[], remark text
WITH x AS MATERIALIZED (
    SELECT m.event_id AS ref,
           n.notification_id IS NULL
               OR (n.source, n.scope, n.event_id, n.version) <> (m.source, m.scope, m.event_id, m.version)
               OR n.order_id IS DISTINCT FROM m.order_id AS bad,
           false AS gone
    FROM (SELECT source, scope, event_id, version, order_id, unnest(notifications) AS id FROM moves
          WHERE notifications IS NOT NULL AND at > now() - $1::int8 * interval '1 second') m
    LEFT JOIN notifications n ON n.notification_id = m.id
)
SELECT count(*) FILTER (WHERE NOT (bad AND gone)), count(*) FILTER (WHERE bad AND NOT gone),
       count(*) FILTER (WHERE bad AND gone), ARRAY(SELECT ref FROM x WHERE bad AND NOT gone ORDER BY ref LIMIT 5),
       NULL::text
FROM x
