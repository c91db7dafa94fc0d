-- The names of time zones that this server knows. It reads a folder tree for it: asked once, not with each claim.
-- returns: name text
SELECT name FROM pg_timezone_names
