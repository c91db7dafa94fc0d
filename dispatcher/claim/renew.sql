-- Prolongs the leases of this worker by $3 milliseconds from now, one row a batch.
-- returns: claim_id of those that are still its own; what is missing was taken over
UPDATE claims SET lease_until = clock_timestamp() + $3::int8 * interval '1 millisecond'
WHERE claim_id = ANY($1::uuid[]) AND worker = $2::uuid
RETURNING claim_id
