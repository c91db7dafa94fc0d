-- Empties the slot.
-- returns: no rows
TRUNCATE moves_0
