-- Is the database there?
-- returns: found bool
SELECT EXISTS (SELECT 1 FROM pg_database WHERE datname = 'pawl')
