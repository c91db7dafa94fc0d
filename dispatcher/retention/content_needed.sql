-- Does a delivery without an end have its content in this slot? Such a delivery is due or in a claim. Once the slot's turn
-- is over a no stays a no: contents made later lie elsewhere. $1 slot
-- returns: needed boolean
SELECT EXISTS (
    SELECT 1 FROM due u
    JOIN deliveries d ON d.bucket = u.bucket AND d.notification_id = u.notification_id AND d.channel = u.channel
                     AND d.target = u.target AND d.redrive = u.redrive
    WHERE d.content_slot = $1::int4 AND d.state IN (0, 1)
) OR EXISTS (
    SELECT 1 FROM claims c, unnest(c.b, c.n, c.ch, c.tg, c.rd) m(b, n, ch, tg, rd)
    JOIN deliveries d ON d.bucket = m.b AND d.notification_id = m.n AND d.channel = m.ch AND d.target = m.tg AND d.redrive = m.rd
    WHERE d.content_slot = $1::int4 AND d.state IN (0, 1)
)
