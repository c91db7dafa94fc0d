-- Prolongs the leases of this worker by $3 milliseconds from now, one row a batch; locked in the fence's order, since
-- records of the same worker may run meanwhile.
-- returns: claim_id of those that are still its own; what is missing was taken over
WITH own AS MATERIALIZED (
    SELECT claim_id FROM claims WHERE claim_id = ANY($1::uuid[]) AND worker = $2::uuid ORDER BY claim_id FOR UPDATE
)
UPDATE claims SET lease_until = clock_timestamp() + $3::int8 * interval '1 millisecond'
WHERE claim_id = ANY(ARRAY(SELECT claim_id FROM own))
RETURNING claim_id
