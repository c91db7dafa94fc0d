-- The quarantine: requests to a known source that were refused for their signature, time or headers, so that a wrongly
-- refused one can be looked at, and admitted once its secret is mended. A ring of facts as the others; a slot lasts a day.

CREATE TABLE rejected (
    slot        int NOT NULL DEFAULT ring_slot(now(), 86400),
    source      int NOT NULL, -- 0: of several
    body_bytes  int NOT NULL, -- of the whole body
    left_out    bigint NOT NULL, -- 0: one request; n: so many more, from received_at to last_at, are not kept but counted
    id          uuid NOT NULL,
    received_at timestamptz NOT NULL, -- by the receiver's clock, as its signature was judged by it
    last_at     timestamptz NOT NULL,
    at          timestamptz NOT NULL DEFAULT now(), -- when it was written, by the database's clock
    reason      text COLLATE "C" NOT NULL,
    method      text COLLATE "C",
    peer        text,
    target      bytea,
    headers     bytea, -- "name: value" lines; a secret's is "name=sha256:.."
    body        bytea, -- its start, when it is longer than what is kept
    body_sha256 bytea  -- of the whole body, when it is cut
) PARTITION BY LIST (slot);
CREATE INDEX rejected_at ON rejected USING brin (at) WITH (pages_per_range = 32);
CREATE TABLE rejected_0 PARTITION OF rejected FOR VALUES IN (0);
CREATE TABLE rejected_1 PARTITION OF rejected FOR VALUES IN (1);
CREATE TABLE rejected_2 PARTITION OF rejected FOR VALUES IN (2);
CREATE TABLE rejected_3 PARTITION OF rejected FOR VALUES IN (3);
CREATE TABLE rejected_4 PARTITION OF rejected FOR VALUES IN (4);
CREATE TABLE rejected_5 PARTITION OF rejected FOR VALUES IN (5);
CREATE TABLE rejected_6 PARTITION OF rejected FOR VALUES IN (6);
CREATE TABLE rejected_7 PARTITION OF rejected FOR VALUES IN (7);
CREATE TABLE rejected_8 PARTITION OF rejected FOR VALUES IN (8);
CREATE TABLE rejected_9 PARTITION OF rejected FOR VALUES IN (9);
CREATE TABLE rejected_10 PARTITION OF rejected FOR VALUES IN (10);
CREATE TABLE rejected_11 PARTITION OF rejected FOR VALUES IN (11);
CREATE TABLE rejected_12 PARTITION OF rejected FOR VALUES IN (12);
CREATE TABLE rejected_13 PARTITION OF rejected FOR VALUES IN (13);
CREATE TABLE rejected_14 PARTITION OF rejected FOR VALUES IN (14);
CREATE TABLE rejected_15 PARTITION OF rejected FOR VALUES IN (15);

-- The receiver writes it, and reads it to verify again: whoever may admit a request has the receiver's login and secrets.
GRANT SELECT, INSERT ON rejected TO pawl_receiver;
GRANT SELECT ON rejected TO pawl_operator;
GRANT SELECT, TRUNCATE ON
    rejected_0, rejected_1, rejected_2, rejected_3, rejected_4, rejected_5, rejected_6, rejected_7, rejected_8,
    rejected_9, rejected_10, rejected_11, rejected_12, rejected_13, rejected_14, rejected_15
    TO pawl_maint;
GRANT SELECT ON
    rejected_0, rejected_1, rejected_2, rejected_3, rejected_4, rejected_5, rejected_6, rejected_7, rejected_8,
    rejected_9, rejected_10, rejected_11, rejected_12, rejected_13, rejected_14, rejected_15
    TO pawl_operator;
