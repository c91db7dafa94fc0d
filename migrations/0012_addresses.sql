-- A mail address may have a name before it ("Ann <ann@example.net>"): the mailbox is what gets nothing, and what counts as one
-- recipient, whatever it is called. As dispatcher/claim/gates/caps.c reads it.
CREATE OR REPLACE FUNCTION address_normal(channel int, address text) RETURNS text
    LANGUAGE sql STABLE PARALLEL SAFE
    RETURN CASE channel WHEN 1 THEN lower(coalesce(substring(btrim(address) FROM '<([^<]*)>$'), btrim(address)) COLLATE "C")
                        WHEN 2 THEN translate(address, ' -./()', '') ELSE address END;

-- What was suppressed with a name is suppressed without it.
WITH named AS (
    DELETE FROM suppressions WHERE channel = 1 AND key <> address_key(channel, address)
    RETURNING channel, type, reason, address, source, note, since
)
INSERT INTO suppressions (channel, type, reason, key, address, source, note, since)
SELECT channel, type, reason, address_key(channel, address), address, source, note, since FROM named
ON CONFLICT DO NOTHING;

-- A look-up is about the try in doubt, not about messages before it, of which receipts said that they failed.
GRANT SELECT (bucket, channel, notification_id, redrive, kind, provider_id) ON receipts TO pawl_dispatcher;

-- A receipt made it due again from then on. Another row of it may stand in `due` from before, with an earlier time.
ALTER TABLE deliveries ADD COLUMN not_before timestamptz;
GRANT UPDATE (not_before) ON deliveries TO pawl_receiver;
