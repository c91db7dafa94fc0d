-- How long ago a policy version was applied. $1 the version
-- returns: age s float8
SELECT extract(epoch FROM clock_timestamp() - applied_at)::float8 FROM policy_versions WHERE version = $1::int4
