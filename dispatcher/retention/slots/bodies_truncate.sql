-- Empties the slot.
-- returns: no rows
TRUNCATE bodies_0
