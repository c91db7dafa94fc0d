-- Makes a row for every order that an event names, also for those whose event may not create it: where the row is,
-- events wait. Inserting first and locking in the next statement can't deadlock; locking what exists first can.
-- returns: nothing
INSERT INTO orders (bucket, order_id)
SELECT u.b, u.o FROM unnest($1::int4[], $2::text[]) u(b, o)
ORDER BY u.b, u.o COLLATE "C"
ON CONFLICT DO NOTHING
