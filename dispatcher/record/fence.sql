-- THE FENCE: locks the claims that results belong to. A claim that is missing was taken over: its results are stale.
-- One without members is fence_put.sql's.
-- returns: claim_id
SELECT claim_id FROM claims
WHERE claim_id = ANY($1::uuid[]) AND worker = $2::uuid AND cardinality(b) > 0
ORDER BY claim_id FOR UPDATE
