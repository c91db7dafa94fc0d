-- With the slot locked: is all of it older than $3 s, by its turn and by its newest rows' own times (those at its end:
-- it is append-only), and its next turn not near? Division by zero (22012) = no, and the transaction ends with nothing done.
-- $1 slot, $2 length of a slot in s, $4 the policy version that says so
-- returns: one row
WITH tail AS (
    SELECT max(ring_at) AS newest FROM ring_0
    WHERE ctid >= (SELECT format('(%s,0)', greatest(pg_relation_size('ring_0') / current_setting('block_size')::int8 - 16, 0))::tid)
), noted AS (
    INSERT INTO emptied AS e (ring, slot, at, newest, bytes)
    SELECT 'ring', $1::int4, clock_timestamp(), t.newest, pg_relation_size('ring_0')
    FROM tail t
    WHERE ring_slot_over($1::int4, $2::int8, $3::int8, clock_timestamp())
      AND coalesce(t.newest < clock_timestamp() - $3::int8 * interval '1 second', true)
      AND $4::int4 = (SELECT max(version) FROM policy_versions)
    ON CONFLICT (ring, slot) DO UPDATE SET at = excluded.at, newest = excluded.newest, bytes = excluded.bytes
    RETURNING 1
)
SELECT 1 / count(*) FROM noted
