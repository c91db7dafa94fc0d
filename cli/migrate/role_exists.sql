-- Is there a role of this name?
-- returns: found boolean
SELECT EXISTS (SELECT 1 FROM pg_catalog.pg_roles WHERE rolname = $1::text)
