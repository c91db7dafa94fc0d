-- Empties the slot.
-- returns: no rows
TRUNCATE contents_0
