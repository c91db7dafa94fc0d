-- Nobody reads or writes this slot until the transaction ends.
-- returns: no rows
LOCK TABLE ring_0 IN ACCESS EXCLUSIVE MODE
