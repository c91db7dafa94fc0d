-- Empties the slot.
-- returns: no rows
TRUNCATE repeats_0
