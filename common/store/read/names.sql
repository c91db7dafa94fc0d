-- All stored numbers of names.
-- returns: kind int, id int, name text
SELECT kind, id, name FROM names ORDER BY kind, id
