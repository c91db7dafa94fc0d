-- One migration run at a time; held until the connection ends.
-- returns: got boolean
SELECT pg_try_advisory_lock(hashtextextended('pawl migrate', 0))
