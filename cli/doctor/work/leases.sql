-- Leases that ran out and were not taken over, and what they hold.
-- returns: leases bigint, deliveries bigint, age s of the oldest float8 (NULL = none)
SELECT count(*), coalesce(sum(cardinality(b)), 0)::int8, extract(epoch FROM clock_timestamp() - min(lease_until))::float8
FROM claims WHERE lease_until < clock_timestamp() - interval '1 minute'
