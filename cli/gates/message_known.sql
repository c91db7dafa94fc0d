-- The number of a message's name. $1
-- returns: id int; no row = there is none
SELECT id FROM names WHERE kind = 3 AND name = $1::text
