-- The turn to change generation $1: whoever holds this row and finds it still the highest is the only one.
-- returns: gen bigint
SELECT gen FROM key_gen WHERE gen = $1::int8 FOR UPDATE
