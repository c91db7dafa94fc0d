-- In no window of its length more messages of a cap reached the peer, or may have, than it allows. $1 seconds; of each cap and
-- message that it holds $2 policy version, $3 message, $4 rule, $5 across channels, $6 per order, $7 most, $8 in seconds.
-- All devices of a notification are one message on their channel, and so are all tries. What surely did not arrive gave its slot
-- back: an end without a try in doubt, or one of which a person said that it was not sent (10).
-- returns: judged bigint, broken bigint, out of reach bigint, examples text[], remark text
WITH rule AS MATERIALIZED (
    SELECT * FROM unnest($2::int4[], $3::int4[], $4::text[], $5::bool[], $6::bool[], $7::int4[], $8::int8[])
                  u(policy, message, rule, across, by_order, most, in_s)
), moment AS MATERIALIZED (
    SELECT r.rule, CASE WHEN r.across THEN 0 ELSE a.channel END AS counted,
           CASE WHEN r.by_order THEN n.order_id
                ELSE coalesce('contact ' || d.recipient, 'address ' || address_normal(a.channel, d.address)) END AS subject,
           ROW(a.notification_id, a.channel, a.redrive) AS unit, a.notification_id, a.at, r.most, r.in_s * interval '1 second' AS length
    FROM attempts a
    JOIN deliveries d USING (bucket, notification_id, channel, target, redrive)
    JOIN notifications n USING (bucket, notification_id)
    JOIN rule r ON r.policy = coalesce(d.policy, n.policy) AND r.message = n.type
    WHERE a.outcome IN (1, 4) AND a.at > now() - $1::int8 * interval '1 second' AND NOT (r.by_order AND n.order_id IS NULL)
      AND NOT (d.state BETWEEN 3 AND 8
               AND (d.unknown_tries = 0 OR (bucket, a.notification_id, a.channel, a.target, a.redrive) IN (
                   SELECT y.bucket, y.notification_id, y.channel, y.target, y.redrive FROM attempts y WHERE y.outcome = 10)))
), crowded AS MATERIALIZED (
    -- Only where so many moments are close together that there may be too many messages among them.
    SELECT * FROM (SELECT *, lag(at, most) OVER (PARTITION BY rule, counted, subject ORDER BY at) AS before FROM moment) x
    WHERE before > at - length
), x AS MATERIALIZED (
    SELECT DISTINCT replace(c.notification_id::text, '-', '') AS ref
    FROM crowded c
    WHERE (SELECT count(DISTINCT m.unit) FROM moment m
           WHERE m.rule = c.rule AND m.counted = c.counted AND m.subject = c.subject AND m.at <= c.at
             AND m.at > c.at - c.length) > c.most
)
SELECT (SELECT count(*) FROM moment), count(*), 0::bigint, ARRAY(SELECT ref FROM x ORDER BY ref LIMIT 5), NULL::text
FROM x
