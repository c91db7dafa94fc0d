-- Was there ever a source of that name? $1 the name.
-- returns: known boolean
SELECT EXISTS (SELECT 1 FROM names WHERE kind = 1 AND name = $1::text)
