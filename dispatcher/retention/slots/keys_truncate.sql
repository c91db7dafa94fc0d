-- Empties the keys of a slot.
-- returns: no rows
TRUNCATE keys_0, replay_keys_0
