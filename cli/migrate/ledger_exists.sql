-- Was this database migrated before?
-- returns: found boolean
SELECT to_regclass('pawl.migrations') IS NOT NULL
