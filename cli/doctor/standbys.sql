-- How many standbys are connected, and the database's clock.
-- returns: standbys bigint, now us bigint
SELECT (SELECT count(*) FROM pg_stat_replication), (extract(epoch FROM clock_timestamp()) * 1000000)::int8
