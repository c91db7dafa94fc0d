-- Locks one lease that ran out, whoever's it was; not those in $1, which this process itself still works on.
-- returns: claim_id, worker, members; no row = none
SELECT claim_id, worker, cardinality(b)::int4 FROM claims
WHERE lease_until < clock_timestamp() AND claim_id <> ALL($1::uuid[])
ORDER BY lease_until LIMIT 1 FOR UPDATE SKIP LOCKED
