-- What keeps dead rows from being removed: the oldest transaction that holds a snapshot, if its age may be seen, and the
-- oldest replication slot; and how far the transaction ids are from running out.
-- returns: sees boolean, age s of the oldest snapshot float8 (NULL = none), its pid int, slot text (NULL = none holds
--   more than a million transactions), age of the oldest transaction id int
SELECT pg_has_role('pg_read_all_stats', 'USAGE') OR (SELECT rolsuper FROM pg_roles WHERE rolname = current_user),
       extract(epoch FROM clock_timestamp() - a.xact_start)::float8, a.pid,
       (SELECT min(slot_name::text) FROM pg_replication_slots WHERE greatest(age(xmin), age(catalog_xmin)) > 1000000),
       (SELECT age(datfrozenxid) FROM pg_database WHERE datname = current_database())
FROM (VALUES (1)) one
LEFT JOIN (SELECT pid, xact_start FROM pg_stat_activity
           WHERE backend_xmin IS NOT NULL AND pid <> pg_backend_pid() AND backend_type <> 'autovacuum worker'
           ORDER BY xact_start LIMIT 1) a ON true
