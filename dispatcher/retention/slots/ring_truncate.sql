-- Empties the slot.
-- returns: no rows
TRUNCATE ring_0
