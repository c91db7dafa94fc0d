-- Settings of a session: names resolve in pawl, no plan made while a ring slot is empty stays, no wait is without limit.
-- $1: statement timeout in ms, 0 = none
-- returns: one row
SELECT set_config('search_path', 'pawl, pg_catalog', false),
       set_config('jit', 'off', false),
       set_config('enable_seqscan', 'off', false),
       set_config('enable_bitmapscan', 'off', false), -- with these four off a join of an array with a
       set_config('enable_hashjoin', 'off', false),   -- table probes its key, row by row: a generic plan
       set_config('enable_mergejoin', 'off', false),  -- made while the table was small would else read
       set_config('enable_material', 'off', false),   -- all of it, for ever
       -- The programs' statements have one plan worth having (tests/sql/test_plans.py); planning some of them anew each
       -- time, as the server's own rule would have it, costs as much as running them for one event.
       set_config('plan_cache_mode', CASE WHEN current_user IN ('pawl_receiver', 'pawl_dispatcher')
                                          THEN 'force_generic_plan' ELSE 'auto' END, false),
       -- What is longer than 2 KB is compressed: by the method that takes a fifth of the time, if the server has it.
       (SELECT set_config(name, 'lz4', false) FROM pg_settings
        WHERE name = 'default_toast_compression' AND 'lz4' = ANY(enumvals)),
       set_config('TimeZone', 'UTC', false),
       set_config('DateStyle', 'ISO', false),
       set_config('bytea_output', 'hex', false),
       set_config('idle_in_transaction_session_timeout', '5s', false),
       set_config('statement_timeout', $1::text, false)
