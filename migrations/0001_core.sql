-- The schema of Pawl (docs/schema.md says why each table is as it is).
-- Hot tables carry `bucket` (0..1023, computed in C, never changed) and it leads every unique key. Facts are append-only
-- without unique keys, in rings of 16 slots that are whole from here on and emptied by TRUNCATE, slot by slot.
-- Stored numbers (states of a delivery, outcomes, channels) are the enums of receiver/arrival.h and dispatcher/delivery.h.

-- The slot of a ring that a moment falls into. Stable, so that the planner can inline it.
CREATE FUNCTION ring_slot(at timestamptz, slot_seconds bigint) RETURNS int
    LANGUAGE sql STABLE PARALLEL SAFE
    RETURN (extract(epoch FROM at)::bigint / slot_seconds % 16)::int;

-- ---------------------------------------------------------------------------------------------- policy and names

CREATE TABLE policy_versions (
    version    int PRIMARY KEY,
    sha256     text COLLATE "C" NOT NULL,
    note       text NOT NULL DEFAULT '',
    author     text NOT NULL DEFAULT '',
    applied_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE policy_texts (
    version int NOT NULL REFERENCES policy_versions,
    kind    int NOT NULL CHECK (kind IN (1, 2)), -- 1 policy file, 2 template
    path    text COLLATE "C" NOT NULL,
    body    bytea NOT NULL,
    PRIMARY KEY (version, kind, path)
);

-- Stored numbers of names: 1 source, 2 state, 3 message. A number is never given to another name.
CREATE TABLE names (
    kind int NOT NULL CHECK (kind IN (1, 2, 3)),
    id   int NOT NULL CHECK (id > 0),
    name text COLLATE "C" NOT NULL,
    PRIMARY KEY (kind, id),
    UNIQUE (kind, name)
);

-- ---------------------------------------------------------------------------------------------- keys (the inbox wall)

-- The generation that new keys go to is the highest; its slot is gen % 4. Two live, one being emptied, one spare.
CREATE TABLE key_gen (
    gen     bigint PRIMARY KEY,
    overlap boolean NOT NULL,
    at      timestamptz NOT NULL DEFAULT now()
);
INSERT INTO key_gen (gen, overlap) VALUES (1, false);

-- One row an event that was taken in: (source, scope, event id). event_id comes before source and scope in the key, so
-- that an id alone can be looked up with one probe a bucket.
CREATE TABLE keys (
    bucket   int NOT NULL,
    source   int NOT NULL,
    slot     int NOT NULL,
    event_id text COLLATE "C" NOT NULL CHECK (octet_length(event_id) BETWEEN 1 AND 255),
    scope    text COLLATE "C" NOT NULL,
    fp       bytea NOT NULL,
    arrival  uuid NOT NULL, -- of the first copy: a COMMIT run again still finds itself the first
    order_id text COLLATE "C",
    first_at timestamptz NOT NULL,
    PRIMARY KEY (bucket, event_id, source, scope, slot)
) PARTITION BY LIST (slot);
CREATE TABLE keys_0 PARTITION OF keys FOR VALUES IN (0);
CREATE TABLE keys_1 PARTITION OF keys FOR VALUES IN (1);
CREATE TABLE keys_2 PARTITION OF keys FOR VALUES IN (2);
CREATE TABLE keys_3 PARTITION OF keys FOR VALUES IN (3);

-- Signed bytes of schemes whose event id is outside the signature.
CREATE TABLE replay_keys (
    bucket   int NOT NULL,
    source   int NOT NULL,
    slot     int NOT NULL,
    digest   bytea NOT NULL,
    event_id text COLLATE "C" NOT NULL,
    scope    text COLLATE "C" NOT NULL,
    first_at timestamptz NOT NULL,
    PRIMARY KEY (bucket, digest, source, slot)
) PARTITION BY LIST (slot);
CREATE TABLE replay_keys_0 PARTITION OF replay_keys FOR VALUES IN (0);
CREATE TABLE replay_keys_1 PARTITION OF replay_keys FOR VALUES IN (1);
CREATE TABLE replay_keys_2 PARTITION OF replay_keys FOR VALUES IN (2);
CREATE TABLE replay_keys_3 PARTITION OF replay_keys FOR VALUES IN (3);

-- ---------------------------------------------------------------------------------------------- orders

-- state 0 is a placeholder: an event named this order, nothing created it yet. version counts real changes only.
CREATE TABLE orders (
    bucket     int NOT NULL,
    state      int NOT NULL DEFAULT 0,
    version    int NOT NULL DEFAULT 0,
    waiting    int NOT NULL DEFAULT 0, -- rows of `waiting` for it
    order_id   text COLLATE "C" NOT NULL,
    done       int[] NOT NULL DEFAULT '{}',  -- states it has been in
    seq_source int[] NOT NULL DEFAULT '{}',  -- last sequence of each source that has one
    seq_last   bigint[] NOT NULL DEFAULT '{}',
    contact    text NOT NULL DEFAULT '{}',
    data       text NOT NULL DEFAULT '{}',
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (bucket, order_id)
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000,
        autovacuum_vacuum_cost_delay = 0);

-- Events that came before the step they follow, or before their order: small rows, not the body.
CREATE TABLE waiting (
    bucket   int NOT NULL,
    source   int NOT NULL,
    to_state int NOT NULL,
    reason   int NOT NULL, -- move outcome: 4 early, 6 unknown order
    sequence bigint,
    order_id text COLLATE "C" NOT NULL,
    event_id text COLLATE "C" NOT NULL,
    scope    text COLLATE "C" NOT NULL,
    type     text COLLATE "C" NOT NULL,
    contact  text NOT NULL,
    data     text NOT NULL,
    since    timestamptz NOT NULL,
    PRIMARY KEY (bucket, order_id, event_id, source, scope)
);

-- ---------------------------------------------------------------------------------------------- messages out

-- One intent for ever: the id is the hash of the once key. data is blanked after its time, the row stays.
CREATE TABLE notifications (
    bucket          int NOT NULL,
    type            int NOT NULL,
    policy          int NOT NULL, -- version it was made under
    version         int NOT NULL, -- of the order; 0 without one
    notification_id uuid NOT NULL,
    source          int NOT NULL, -- the event that caused it
    once            text COLLATE "C" NOT NULL,
    order_id        text COLLATE "C",
    event_id        text COLLATE "C" NOT NULL,
    scope           text COLLATE "C" NOT NULL,
    data            text,
    created_at      timestamptz NOT NULL,
    PRIMARY KEY (bucket, notification_id)
);

CREATE TABLE deliveries (
    bucket              int NOT NULL,
    channel             int NOT NULL,
    notification_id     uuid NOT NULL,
    redrive             int NOT NULL DEFAULT 0,
    state               int NOT NULL DEFAULT 0,
    tries               int NOT NULL DEFAULT 0, -- step number, only ever raised
    unknown_tries       int NOT NULL DEFAULT 0, -- tries that ended unknown and were followed by another
    possible_duplicates int NOT NULL DEFAULT 0,
    delivery_order      int NOT NULL, -- 1 at most once, 2 at least once
    lane                int NOT NULL,
    content_slot        int, -- ring slot of its content; NULL = not rendered yet
    provider            int,
    target              text COLLATE "C" NOT NULL DEFAULT '',
    address             text NOT NULL, -- frozen when the notification was made
    zone                text, -- recipient's time zone
    collapse            text COLLATE "C",
    reason              text, -- of an end other than accepted
    provider_id         text, -- the provider's own id of the message
    created_at          timestamptz NOT NULL,
    updated_at          timestamptz NOT NULL,
    wire_at             timestamptz, -- the last claim that put it on the wire
    expires_at          timestamptz,
    retry_until         timestamptz,
    lookup_at           timestamptz, -- when the provider may be asked about an unknown outcome
    PRIMARY KEY (bucket, notification_id, channel, target, redrive)
) WITH (fillfactor = 60, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000,
        autovacuum_vacuum_cost_delay = 0);
CREATE INDEX deliveries_created ON deliveries USING brin (created_at) WITH (pages_per_range = 32);

-- What is to be done, apart from the facts: rows are inserted and deleted, never updated; no primary key.
CREATE TABLE due (
    bucket          int NOT NULL,
    lane            int NOT NULL,
    due_at          timestamptz NOT NULL,
    notification_id uuid NOT NULL,
    channel         int NOT NULL,
    redrive         int NOT NULL,
    tries           int NOT NULL, -- of the delivery when the row was made
    target          text COLLATE "C" NOT NULL
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0);
CREATE INDEX due_lane ON due (lane, due_at);

-- One row a batch: its lease, its members, and the fence that every record locks.
CREATE TABLE claims (
    claim_id    uuid PRIMARY KEY, -- random: never issued again, not even after a failover
    worker      uuid NOT NULL,    -- this process incarnation
    lease_until timestamptz NOT NULL,
    b           int[] NOT NULL,
    n           uuid[] NOT NULL,
    ch          int[] NOT NULL,
    tg          text[] NOT NULL,
    rd          int[] NOT NULL,
    t           int[] NOT NULL -- tries of each member when claimed
);

-- Deliveries whose outcome is unknown now: thin, so that they can be counted and dated at any size.
CREATE TABLE unknown_outcomes (
    bucket          int NOT NULL,
    channel         int NOT NULL,
    notification_id uuid NOT NULL,
    redrive         int NOT NULL,
    target          text COLLATE "C" NOT NULL,
    since           timestamptz NOT NULL,
    PRIMARY KEY (bucket, notification_id, channel, target, redrive)
);

-- A cap as rows: taken with the claim, held while the delivery has no end, dated by the record.
CREATE TABLE cap_slots (
    bucket          int NOT NULL,
    nth             int NOT NULL, -- 0 .. most-1
    cap             text COLLATE "C" NOT NULL, -- rule and recipient or order
    notification_id uuid NOT NULL,
    channel         int NOT NULL,
    redrive         int NOT NULL,
    target          text COLLATE "C" NOT NULL,
    taken_at        timestamptz NOT NULL,
    used_at         timestamptz,
    PRIMARY KEY (bucket, cap, nth)
);

-- ---------------------------------------------------------------------------------------------- facts (rings)

-- Raw bodies: the first copy of each event, and every mismatch. A slot lasts 2 days.
CREATE TABLE bodies (
    slot        int NOT NULL DEFAULT ring_slot(now(), 172800),
    bucket      int NOT NULL,
    source      int NOT NULL,
    outcome     int NOT NULL, -- event outcome
    event_id    text COLLATE "C" NOT NULL,
    scope       text COLLATE "C" NOT NULL,
    arrival     uuid NOT NULL,
    received_at timestamptz NOT NULL, -- = keys.first_at for a first copy
    type        text COLLATE "C",
    reason      text, -- why parked
    secret      text, -- which one matched
    headers     text, -- secrets redacted
    body        bytea NOT NULL
) PARTITION BY LIST (slot);
CREATE INDEX bodies_received ON bodies USING brin (received_at) WITH (pages_per_range = 32);
CREATE TABLE bodies_0 PARTITION OF bodies FOR VALUES IN (0);
CREATE TABLE bodies_1 PARTITION OF bodies FOR VALUES IN (1);
CREATE TABLE bodies_2 PARTITION OF bodies FOR VALUES IN (2);
CREATE TABLE bodies_3 PARTITION OF bodies FOR VALUES IN (3);
CREATE TABLE bodies_4 PARTITION OF bodies FOR VALUES IN (4);
CREATE TABLE bodies_5 PARTITION OF bodies FOR VALUES IN (5);
CREATE TABLE bodies_6 PARTITION OF bodies FOR VALUES IN (6);
CREATE TABLE bodies_7 PARTITION OF bodies FOR VALUES IN (7);
CREATE TABLE bodies_8 PARTITION OF bodies FOR VALUES IN (8);
CREATE TABLE bodies_9 PARTITION OF bodies FOR VALUES IN (9);
CREATE TABLE bodies_10 PARTITION OF bodies FOR VALUES IN (10);
CREATE TABLE bodies_11 PARTITION OF bodies FOR VALUES IN (11);
CREATE TABLE bodies_12 PARTITION OF bodies FOR VALUES IN (12);
CREATE TABLE bodies_13 PARTITION OF bodies FOR VALUES IN (13);
CREATE TABLE bodies_14 PARTITION OF bodies FOR VALUES IN (14);
CREATE TABLE bodies_15 PARTITION OF bodies FOR VALUES IN (15);

-- Every further copy of an event. A slot lasts 4 days.
CREATE TABLE repeats (
    slot     int NOT NULL DEFAULT ring_slot(now(), 345600),
    bucket   int NOT NULL,
    source   int NOT NULL,
    outcome  int NOT NULL, -- duplicate, mismatch, replay
    event_id text COLLATE "C" NOT NULL,
    scope    text COLLATE "C" NOT NULL,
    arrival  uuid NOT NULL,
    age      interval NOT NULL,
    at       timestamptz NOT NULL,
    secret   text
) PARTITION BY LIST (slot);
CREATE INDEX repeats_event ON repeats (bucket, event_id);
CREATE TABLE repeats_0 PARTITION OF repeats FOR VALUES IN (0);
CREATE TABLE repeats_1 PARTITION OF repeats FOR VALUES IN (1);
CREATE TABLE repeats_2 PARTITION OF repeats FOR VALUES IN (2);
CREATE TABLE repeats_3 PARTITION OF repeats FOR VALUES IN (3);
CREATE TABLE repeats_4 PARTITION OF repeats FOR VALUES IN (4);
CREATE TABLE repeats_5 PARTITION OF repeats FOR VALUES IN (5);
CREATE TABLE repeats_6 PARTITION OF repeats FOR VALUES IN (6);
CREATE TABLE repeats_7 PARTITION OF repeats FOR VALUES IN (7);
CREATE TABLE repeats_8 PARTITION OF repeats FOR VALUES IN (8);
CREATE TABLE repeats_9 PARTITION OF repeats FOR VALUES IN (9);
CREATE TABLE repeats_10 PARTITION OF repeats FOR VALUES IN (10);
CREATE TABLE repeats_11 PARTITION OF repeats FOR VALUES IN (11);
CREATE TABLE repeats_12 PARTITION OF repeats FOR VALUES IN (12);
CREATE TABLE repeats_13 PARTITION OF repeats FOR VALUES IN (13);
CREATE TABLE repeats_14 PARTITION OF repeats FOR VALUES IN (14);
CREATE TABLE repeats_15 PARTITION OF repeats FOR VALUES IN (15);

-- One row for each judgement. A slot lasts 8 days.
CREATE TABLE moves (
    slot          int NOT NULL DEFAULT ring_slot(now(), 691200),
    bucket        int NOT NULL, -- of the order; of the event when there is none
    source        int NOT NULL,
    outcome       int NOT NULL, -- move outcome
    from_state    int NOT NULL,
    to_state      int NOT NULL,
    version       int NOT NULL, -- of the order afterwards
    nth           int NOT NULL, -- order of judgement within its transaction
    policy        int NOT NULL,
    order_id      text COLLATE "C",
    event_id      text COLLATE "C" NOT NULL,
    scope         text COLLATE "C" NOT NULL,
    sequence      bigint,
    notifications uuid[], -- made by it
    at            timestamptz NOT NULL
) PARTITION BY LIST (slot);
CREATE INDEX moves_order ON moves (bucket, order_id);
CREATE TABLE moves_0 PARTITION OF moves FOR VALUES IN (0);
CREATE TABLE moves_1 PARTITION OF moves FOR VALUES IN (1);
CREATE TABLE moves_2 PARTITION OF moves FOR VALUES IN (2);
CREATE TABLE moves_3 PARTITION OF moves FOR VALUES IN (3);
CREATE TABLE moves_4 PARTITION OF moves FOR VALUES IN (4);
CREATE TABLE moves_5 PARTITION OF moves FOR VALUES IN (5);
CREATE TABLE moves_6 PARTITION OF moves FOR VALUES IN (6);
CREATE TABLE moves_7 PARTITION OF moves FOR VALUES IN (7);
CREATE TABLE moves_8 PARTITION OF moves FOR VALUES IN (8);
CREATE TABLE moves_9 PARTITION OF moves FOR VALUES IN (9);
CREATE TABLE moves_10 PARTITION OF moves FOR VALUES IN (10);
CREATE TABLE moves_11 PARTITION OF moves FOR VALUES IN (11);
CREATE TABLE moves_12 PARTITION OF moves FOR VALUES IN (12);
CREATE TABLE moves_13 PARTITION OF moves FOR VALUES IN (13);
CREATE TABLE moves_14 PARTITION OF moves FOR VALUES IN (14);
CREATE TABLE moves_15 PARTITION OF moves FOR VALUES IN (15);

-- One try to hand a delivery to a provider. A slot lasts 8 days.
CREATE TABLE attempts (
    slot               int NOT NULL DEFAULT ring_slot(now(), 691200),
    bucket             int NOT NULL,
    channel            int NOT NULL,
    notification_id    uuid NOT NULL,
    redrive            int NOT NULL,
    step               int NOT NULL,
    outcome            int NOT NULL, -- attempt outcome
    level              int NOT NULL DEFAULT 0,
    code               int,
    wire_ms            int,
    possible_duplicate boolean NOT NULL DEFAULT false,
    claim_id           uuid NOT NULL,
    worker             uuid NOT NULL,
    target             text COLLATE "C" NOT NULL,
    enhanced           text,
    detail             text,
    provider_id        text,
    at                 timestamptz NOT NULL
) PARTITION BY LIST (slot);
CREATE INDEX attempts_delivery ON attempts (bucket, notification_id);
CREATE TABLE attempts_0 PARTITION OF attempts FOR VALUES IN (0);
CREATE TABLE attempts_1 PARTITION OF attempts FOR VALUES IN (1);
CREATE TABLE attempts_2 PARTITION OF attempts FOR VALUES IN (2);
CREATE TABLE attempts_3 PARTITION OF attempts FOR VALUES IN (3);
CREATE TABLE attempts_4 PARTITION OF attempts FOR VALUES IN (4);
CREATE TABLE attempts_5 PARTITION OF attempts FOR VALUES IN (5);
CREATE TABLE attempts_6 PARTITION OF attempts FOR VALUES IN (6);
CREATE TABLE attempts_7 PARTITION OF attempts FOR VALUES IN (7);
CREATE TABLE attempts_8 PARTITION OF attempts FOR VALUES IN (8);
CREATE TABLE attempts_9 PARTITION OF attempts FOR VALUES IN (9);
CREATE TABLE attempts_10 PARTITION OF attempts FOR VALUES IN (10);
CREATE TABLE attempts_11 PARTITION OF attempts FOR VALUES IN (11);
CREATE TABLE attempts_12 PARTITION OF attempts FOR VALUES IN (12);
CREATE TABLE attempts_13 PARTITION OF attempts FOR VALUES IN (13);
CREATE TABLE attempts_14 PARTITION OF attempts FOR VALUES IN (14);
CREATE TABLE attempts_15 PARTITION OF attempts FOR VALUES IN (15);

-- What was rendered, once a delivery. A slot lasts 2 days.
CREATE TABLE contents (
    slot            int NOT NULL DEFAULT ring_slot(now(), 172800),
    bucket          int NOT NULL,
    channel         int NOT NULL,
    notification_id uuid NOT NULL,
    redrive         int NOT NULL,
    target          text COLLATE "C" NOT NULL,
    at              timestamptz NOT NULL,
    content         text NOT NULL -- JSON: subject, bodies, Message-ID, Date; never credentials
) PARTITION BY LIST (slot);
CREATE INDEX contents_delivery ON contents (bucket, notification_id);
CREATE TABLE contents_0 PARTITION OF contents FOR VALUES IN (0);
CREATE TABLE contents_1 PARTITION OF contents FOR VALUES IN (1);
CREATE TABLE contents_2 PARTITION OF contents FOR VALUES IN (2);
CREATE TABLE contents_3 PARTITION OF contents FOR VALUES IN (3);
CREATE TABLE contents_4 PARTITION OF contents FOR VALUES IN (4);
CREATE TABLE contents_5 PARTITION OF contents FOR VALUES IN (5);
CREATE TABLE contents_6 PARTITION OF contents FOR VALUES IN (6);
CREATE TABLE contents_7 PARTITION OF contents FOR VALUES IN (7);
CREATE TABLE contents_8 PARTITION OF contents FOR VALUES IN (8);
CREATE TABLE contents_9 PARTITION OF contents FOR VALUES IN (9);
CREATE TABLE contents_10 PARTITION OF contents FOR VALUES IN (10);
CREATE TABLE contents_11 PARTITION OF contents FOR VALUES IN (11);
CREATE TABLE contents_12 PARTITION OF contents FOR VALUES IN (12);
CREATE TABLE contents_13 PARTITION OF contents FOR VALUES IN (13);
CREATE TABLE contents_14 PARTITION OF contents FOR VALUES IN (14);
CREATE TABLE contents_15 PARTITION OF contents FOR VALUES IN (15);

-- Who did what by hand, and why. A slot lasts 32 days.
CREATE TABLE audit (
    slot   int NOT NULL DEFAULT ring_slot(now(), 2764800),
    at     timestamptz NOT NULL DEFAULT now(),
    actor  text NOT NULL,
    action text NOT NULL,
    object text NOT NULL,
    reason text NOT NULL DEFAULT '',
    detail text NOT NULL DEFAULT '{}'
) PARTITION BY LIST (slot);
CREATE INDEX audit_at ON audit USING brin (at);
CREATE TABLE audit_0 PARTITION OF audit FOR VALUES IN (0);
CREATE TABLE audit_1 PARTITION OF audit FOR VALUES IN (1);
CREATE TABLE audit_2 PARTITION OF audit FOR VALUES IN (2);
CREATE TABLE audit_3 PARTITION OF audit FOR VALUES IN (3);
CREATE TABLE audit_4 PARTITION OF audit FOR VALUES IN (4);
CREATE TABLE audit_5 PARTITION OF audit FOR VALUES IN (5);
CREATE TABLE audit_6 PARTITION OF audit FOR VALUES IN (6);
CREATE TABLE audit_7 PARTITION OF audit FOR VALUES IN (7);
CREATE TABLE audit_8 PARTITION OF audit FOR VALUES IN (8);
CREATE TABLE audit_9 PARTITION OF audit FOR VALUES IN (9);
CREATE TABLE audit_10 PARTITION OF audit FOR VALUES IN (10);
CREATE TABLE audit_11 PARTITION OF audit FOR VALUES IN (11);
CREATE TABLE audit_12 PARTITION OF audit FOR VALUES IN (12);
CREATE TABLE audit_13 PARTITION OF audit FOR VALUES IN (13);
CREATE TABLE audit_14 PARTITION OF audit FOR VALUES IN (14);
CREATE TABLE audit_15 PARTITION OF audit FOR VALUES IN (15);

-- ---------------------------------------------------------------------------------------------- who may do what

GRANT USAGE ON SCHEMA pawl TO pawl_receiver, pawl_dispatcher, pawl_maint, pawl_operator;
GRANT SELECT ON migrations, policy_versions, policy_texts, names TO pawl_receiver, pawl_dispatcher, pawl_operator;

-- The receiver takes events in and moves orders; it reads no rendered message.
GRANT SELECT ON key_gen TO pawl_receiver;
GRANT SELECT, INSERT ON keys, replay_keys TO pawl_receiver;
GRANT INSERT ON bodies, deliveries, due TO pawl_receiver;
GRANT SELECT, INSERT ON moves, notifications, repeats TO pawl_receiver;
GRANT SELECT, INSERT, UPDATE ON orders TO pawl_receiver;
GRANT SELECT, INSERT, DELETE ON waiting TO pawl_receiver;

-- The dispatcher sends; it writes no inbox and no order.
GRANT SELECT ON notifications TO pawl_dispatcher;
GRANT SELECT, UPDATE ON deliveries TO pawl_dispatcher;
GRANT SELECT, INSERT, DELETE ON due TO pawl_dispatcher;
GRANT UPDATE (lane) ON due TO pawl_dispatcher; -- only so that it may lock rows
GRANT SELECT, INSERT, UPDATE, DELETE ON claims, cap_slots TO pawl_dispatcher;
GRANT SELECT, INSERT, DELETE ON unknown_outcomes TO pawl_dispatcher;
GRANT SELECT, INSERT ON contents, attempts TO pawl_dispatcher;

-- The operator reads everything, and writes policies and the audit.
GRANT SELECT ON ALL TABLES IN SCHEMA pawl TO pawl_operator;
GRANT INSERT ON policy_versions, policy_texts, names, audit TO pawl_operator;

-- Retention alone empties ring slots.
GRANT SELECT, INSERT, UPDATE ON key_gen TO pawl_maint;
GRANT SELECT, TRUNCATE ON
    keys_0, keys_1, keys_2, keys_3, replay_keys_0, replay_keys_1, replay_keys_2, replay_keys_3, bodies_0,
    bodies_1, bodies_2, bodies_3, bodies_4, bodies_5, bodies_6, bodies_7, bodies_8, bodies_9, bodies_10,
    bodies_11, bodies_12, bodies_13, bodies_14, bodies_15, repeats_0, repeats_1, repeats_2, repeats_3,
    repeats_4, repeats_5, repeats_6, repeats_7, repeats_8, repeats_9, repeats_10, repeats_11, repeats_12,
    repeats_13, repeats_14, repeats_15, moves_0, moves_1, moves_2, moves_3, moves_4, moves_5, moves_6,
    moves_7, moves_8, moves_9, moves_10, moves_11, moves_12, moves_13, moves_14, moves_15, attempts_0,
    attempts_1, attempts_2, attempts_3, attempts_4, attempts_5, attempts_6, attempts_7, attempts_8,
    attempts_9, attempts_10, attempts_11, attempts_12, attempts_13, attempts_14, attempts_15, contents_0,
    contents_1, contents_2, contents_3, contents_4, contents_5, contents_6, contents_7, contents_8,
    contents_9, contents_10, contents_11, contents_12, contents_13, contents_14, contents_15
    TO pawl_maint;
