-- What a person cancelled has no more time for tries: a receipt that a try of it failed does not make it due again.
GRANT UPDATE (retry_until) ON deliveries TO pawl_operator;

-- A receipt that the try in doubt failed takes the doubt away: the next try is no possible duplicate because of it.
GRANT SELECT (doubt_at), UPDATE (unknown_tries, doubt_at) ON deliveries TO pawl_receiver;
