-- Settings of the session that empties: it gives way to others at once, never keeps a lock while its process is stopped,
-- and its commits wait for no standby: whatever follows them in the log does.
-- returns: one row
SELECT set_config('lock_timeout', '100ms', false), set_config('synchronous_commit', 'local', false),
       set_config('idle_in_transaction_session_timeout', '1s', false)
