-- A person's look-ups read time ranges by BRIN, which needs bitmap scans; programs have them off.
-- returns: one row
SELECT set_config('enable_bitmapscan', 'on', false)
