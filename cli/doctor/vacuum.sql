-- Hot tables with more dead rows than living ones, worst first. Autovacuum is told to come at 5,000.
-- returns: table text, dead bigint, living bigint
SELECT relname::text, n_dead_tup, n_live_tup FROM pg_stat_user_tables
WHERE schemaname = 'pawl' AND n_dead_tup > 50000 AND n_dead_tup > n_live_tup
ORDER BY n_dead_tup DESC LIMIT 5
