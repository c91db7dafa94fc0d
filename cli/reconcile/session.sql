-- Reconcile reads whole tables: what the programs turn off is on here, nothing can be written, and no check runs for ever.
-- returns: one row
SELECT set_config('enable_seqscan', 'on', false), set_config('enable_bitmapscan', 'on', false),
       set_config('enable_hashjoin', 'on', false), set_config('enable_mergejoin', 'on', false),
       set_config('enable_material', 'on', false), set_config('work_mem', '64MB', false),
       set_config('default_transaction_read_only', 'on', false), set_config('statement_timeout', '60s', false)
