-- Ends claims whose members all have their record.
-- returns: nothing
DELETE FROM claims WHERE claim_id = ANY($1::uuid[]) AND worker = $2::uuid
