-- Begins generation $1, which overlaps the one before.
-- returns: no rows
INSERT INTO key_gen (gen, overlap) VALUES ($1::int8, true) ON CONFLICT DO NOTHING
