-- The login roles of the programs: which lack, and which may more than is theirs. $1 their names.
-- returns: role text, there boolean, login boolean, over text (an attribute or role it should not have, NULL = none)
SELECT u.name, r.oid IS NOT NULL, coalesce(r.rolcanlogin, false),
       CASE WHEN r.rolsuper THEN 'SUPERUSER' WHEN r.rolcreaterole THEN 'CREATEROLE' WHEN r.rolcreatedb THEN 'CREATEDB'
            WHEN r.rolreplication THEN 'REPLICATION' WHEN r.rolbypassrls THEN 'BYPASSRLS'
            ELSE (SELECT min(g.rolname::text) FROM pg_auth_members m JOIN pg_roles g ON g.oid = m.roleid
                  WHERE m.member = r.oid AND g.rolname NOT IN ('pg_monitor', 'pg_read_all_stats')) END
FROM unnest($1::text[]) u(name) LEFT JOIN pg_roles r ON r.rolname = u.name
ORDER BY 1
