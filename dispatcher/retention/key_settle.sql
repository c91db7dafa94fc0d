-- Ends the overlap of generation $1. From here on its window is counted: no key that is only in the one before is younger.
-- returns: no rows
UPDATE key_gen SET overlap = false, at = clock_timestamp() WHERE gen = $1::int8 AND overlap
