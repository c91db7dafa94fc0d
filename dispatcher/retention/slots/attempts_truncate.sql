-- Empties the slot.
-- returns: no rows
TRUNCATE attempts_0
