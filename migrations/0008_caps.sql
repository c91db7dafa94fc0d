-- Caps and collapse. Until here nothing was ever written to cap_slots.

-- A slot's bucket is of what is counted (a recipient or an order), not of the delivery that has it: that is named by
-- of_bucket. The devices of one notification share the slot of their channel, so it names no target.
ALTER TABLE cap_slots
    DROP COLUMN target,
    ADD COLUMN of_bucket int NOT NULL,
    ADD COLUMN in_ms bigint NOT NULL; -- how long after used_at it is taken by nobody else

ALTER TABLE deliveries
    ADD COLUMN recipient text COLLATE "C", -- the contact's own id; NULL = known by the address
    ADD COLUMN order_version int NOT NULL DEFAULT 0; -- of the order when it was made: says which of two is newer

-- The deliveries of one collapse id are of one order, so they share its bucket. None of these columns is ever updated.
CREATE INDEX deliveries_collapse ON deliveries (bucket, collapse, channel) WHERE collapse IS NOT NULL;
