-- Empties the slot.
-- returns: no rows
TRUNCATE rejected_0
