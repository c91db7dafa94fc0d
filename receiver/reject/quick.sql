-- What is kept here may be lost in a crash, and waits for no disk and no standby.
-- returns: one row
SELECT set_config('synchronous_commit', 'off', true)
