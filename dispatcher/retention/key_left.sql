-- How many of these transactions still run. $1 ids
-- returns: n bigint
SELECT count(*) FROM pg_locks WHERE locktype = 'virtualxid' AND mode = 'ExclusiveLock' AND virtualtransaction = ANY($1::text[])
