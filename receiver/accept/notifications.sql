-- Makes the intents; one whose once key exists is an intent of before. $11: policy version.
-- returns: bucket, notification_id of the rows that were new
INSERT INTO notifications (bucket, type, policy, version, notification_id, source, once, order_id, event_id, scope, data,
                           created_at)
SELECT u.b, u.t, $11::int4, u.v, u.n, u.s, u.k, u.o, u.e, u.sc, u.d, now()
FROM unnest($1::int4[], $2::int4[], $3::int4[], $4::uuid[], $5::int4[], $6::text[], $7::text[], $8::text[], $9::text[],
            $10::text[]) u(b, t, v, n, s, k, o, e, sc, d)
ORDER BY u.b, u.n
ON CONFLICT DO NOTHING
RETURNING bucket, notification_id
