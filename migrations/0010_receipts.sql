-- Receipts: what a provider said later of a message that it took, one row each that named a delivery. A ring of facts as
-- the others; a slot lasts 8 days.

CREATE TABLE receipts (
    slot            int NOT NULL DEFAULT ring_slot(now(), 691200),
    bucket          int NOT NULL,
    channel         int NOT NULL,
    notification_id uuid NOT NULL,
    redrive         int NOT NULL,
    source          int NOT NULL,
    kind            int NOT NULL, -- receiver/receipt.h
    outcome         int NOT NULL, -- receiver/accept/settle.h
    from_state      int NOT NULL, -- of the delivery
    to_state        int NOT NULL,
    step            int NOT NULL, -- tries of the delivery then
    event_id        text COLLATE "C" NOT NULL,
    scope           text COLLATE "C" NOT NULL,
    provider_id     text, -- the provider's own id of the message
    said            text, -- by the provider, in its words
    target          text COLLATE "C" NOT NULL,
    at              timestamptz NOT NULL
) PARTITION BY LIST (slot);
CREATE INDEX receipts_delivery ON receipts (bucket, notification_id);
CREATE TABLE receipts_0 PARTITION OF receipts FOR VALUES IN (0);
CREATE TABLE receipts_1 PARTITION OF receipts FOR VALUES IN (1);
CREATE TABLE receipts_2 PARTITION OF receipts FOR VALUES IN (2);
CREATE TABLE receipts_3 PARTITION OF receipts FOR VALUES IN (3);
CREATE TABLE receipts_4 PARTITION OF receipts FOR VALUES IN (4);
CREATE TABLE receipts_5 PARTITION OF receipts FOR VALUES IN (5);
CREATE TABLE receipts_6 PARTITION OF receipts FOR VALUES IN (6);
CREATE TABLE receipts_7 PARTITION OF receipts FOR VALUES IN (7);
CREATE TABLE receipts_8 PARTITION OF receipts FOR VALUES IN (8);
CREATE TABLE receipts_9 PARTITION OF receipts FOR VALUES IN (9);
CREATE TABLE receipts_10 PARTITION OF receipts FOR VALUES IN (10);
CREATE TABLE receipts_11 PARTITION OF receipts FOR VALUES IN (11);
CREATE TABLE receipts_12 PARTITION OF receipts FOR VALUES IN (12);
CREATE TABLE receipts_13 PARTITION OF receipts FOR VALUES IN (13);
CREATE TABLE receipts_14 PARTITION OF receipts FOR VALUES IN (14);
CREATE TABLE receipts_15 PARTITION OF receipts FOR VALUES IN (15);

-- The receiver moves a delivery by what a receipt says. It reads what the judgement needs, and no rendered message; it
-- writes the columns that a move changes.
GRANT SELECT (bucket, notification_id, channel, target, redrive, state, tries, unknown_tries, delivery_order, lane, address,
              provider_id, expires_at, retry_until, lookup_at) ON deliveries TO pawl_receiver;
GRANT UPDATE (state, reason, updated_at, provider_id, lookup_at) ON deliveries TO pawl_receiver;
GRANT SELECT (bucket, notification_id, channel, target, redrive), DELETE ON unknown_outcomes TO pawl_receiver;
GRANT INSERT ON attempts, receipts, suppressions TO pawl_receiver;
GRANT SELECT ON receipts TO pawl_operator;
GRANT SELECT, TRUNCATE ON
    receipts_0, receipts_1, receipts_2, receipts_3, receipts_4, receipts_5, receipts_6, receipts_7, receipts_8,
    receipts_9, receipts_10, receipts_11, receipts_12, receipts_13, receipts_14, receipts_15
    TO pawl_maint;
GRANT SELECT ON
    receipts_0, receipts_1, receipts_2, receipts_3, receipts_4, receipts_5, receipts_6, receipts_7, receipts_8,
    receipts_9, receipts_10, receipts_11, receipts_12, receipts_13, receipts_14, receipts_15
    TO pawl_operator;
