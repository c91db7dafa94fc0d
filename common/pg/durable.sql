-- What makes a confirmed COMMIT last. synchronous_commit is fixed for the session, so that a reload can't weaken it later.
-- returns: fsync text, full_page_writes text, synchronous_commit text, synchronous_standby_names text
SELECT current_setting('fsync'), current_setting('full_page_writes'),
       set_config('synchronous_commit', current_setting('synchronous_commit'), false),
       current_setting('synchronous_standby_names')
