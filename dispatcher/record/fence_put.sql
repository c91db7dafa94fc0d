-- For claims whose COMMIT got no answer, before the fence is asked: waits for the transaction of one that is still under
-- way, and keeps one that did not come so far from coming. Its row has no members; it outlives what a server may still have
-- to read of a connection that is gone, and is removed as a lease that ran out.
-- returns: nothing
INSERT INTO claims (claim_id, worker, lease_until, b, n, ch, tg, rd, t)
SELECT u.id, $2::uuid, clock_timestamp() + interval '2 seconds', '{}', '{}', '{}', '{}', '{}', '{}'
FROM unnest($1::uuid[]) u(id)
ORDER BY u.id
ON CONFLICT DO NOTHING
