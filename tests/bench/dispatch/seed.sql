-- Deliveries as the receiver makes them: a notification, its delivery by mail, a due row. %(n)s of them, due from
-- %(from)s on, %(every)s apart: in the order in which they were made, as a backlog is.
WITH made AS MATERIALIZED (
    SELECT g, floor(random() * 1024)::int AS b, gen_random_uuid() AS n, %(from)s::timestamptz + (g - 1) * %(every)s::interval AS at,
           'order-' || g || '-' || substr(md5(random()::text), 1, 8) AS o
    FROM generate_series(1, %(n)s) g
), notified AS (
    INSERT INTO pawl.notifications (bucket, type, policy, version, notification_id, source, once, order_id, event_id, scope, data,
                                    created_at)
    SELECT b, t.id, p.version, 2, n, 1, 'payment-receipt/' || o, o, 'evt_' || md5(o), '', json_build_object(
               'order', json_build_object('id', o, 'state', 'paid', 'version', 2),
               'event', json_build_object('id', 'evt_' || md5(o), 'type', 'payment_intent.succeeded', 'source', 'shop'),
               'contact', json_build_object('email', 'customer-' || g || '@example.net', 'locale', 'en'),
               'data', json_build_object('name', 'Ann Example', 'total', '129.00', 'currency', 'EUR', 'items', json_build_array(
                   json_build_object('name', 'Blue kettle, 1.7 l', 'count', 1, 'price', '49.00'),
                   json_build_object('name', 'Tea towel "Harbour"', 'count', 4, 'price', '12.50'),
                   json_build_object('name', 'Shipping', 'count', 1, 'price', '30.00'))))::text, now()
    FROM made, (SELECT id FROM pawl.names WHERE kind = 3 AND name = 'payment-receipt') t,
         (SELECT max(version) AS version FROM pawl.policy_versions) p
), delivered AS (
    INSERT INTO pawl.deliveries (bucket, channel, notification_id, delivery_order, lane, address, created_at, updated_at, retry_until)
    SELECT b, 1, n, 2, 11, 'customer-' || g || '@example.net', now(), now(), now() + interval '30 days' FROM made
)
INSERT INTO pawl.due (bucket, lane, due_at, notification_id, channel, redrive, tries, target)
SELECT b, 11, at, n, 1, 0, 0, '' FROM made
