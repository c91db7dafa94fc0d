-- What a confirmed COMMIT rests on, and what the statements assume. A role may have settings of its own.
-- returns: name text, value text, where text (the server, or the role that has it so)
SELECT name, setting, 'the server' FROM pg_settings
WHERE name IN ('fsync', 'full_page_writes', 'synchronous_commit', 'autovacuum', 'server_encoding', 'server_version_num',
               'default_transaction_isolation', 'synchronous_standby_names')
UNION ALL
SELECT split_part(x.item, '=', 1), split_part(x.item, '=', 2), r.rolname::text
FROM pg_db_role_setting s JOIN pg_roles r ON r.oid = s.setrole, unnest(s.setconfig) x(item)
WHERE r.rolname LIKE 'pawl\_%' AND s.setdatabase IN (0, (SELECT oid FROM pg_database WHERE datname = current_database()))
ORDER BY 3, 1
