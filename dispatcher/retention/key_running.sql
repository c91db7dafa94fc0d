-- The transactions that run now: each holds the lock on its own virtual id from its first moment until what it did is
-- visible to all. Exact, needs no clock and no right to see others' activity.
-- returns: id text
SELECT virtualtransaction FROM pg_locks WHERE locktype = 'virtualxid' AND granted AND mode = 'ExclusiveLock'
    AND pid <> pg_backend_pid()
