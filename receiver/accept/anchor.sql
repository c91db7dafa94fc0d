-- Gives the transaction something to commit. A batch run again after a lost COMMIT finds its rows and writes nothing, and so
-- does a click on a link that was clicked before; without a write its COMMIT would wait neither for the disk nor for the
-- synchronous standby, and be no proof of either.
-- returns: one row
SELECT pg_logical_emit_message(true, 'pawl', '')
