-- The Node receiver's tables: the same facts as Pawl's, laid out as a Node project would. Source and event id are the wall;
-- an order's row moves forward under a guard; the outbox holds what is to be sent.
CREATE TABLE inbox (
    source      text NOT NULL,
    event_id    text NOT NULL,
    fingerprint bytea NOT NULL,
    type        text NOT NULL,
    headers     jsonb NOT NULL,
    body        bytea NOT NULL,
    received_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (source, event_id)
);
CREATE TABLE repeats (
    source      text NOT NULL,
    event_id    text NOT NULL,
    fingerprint bytea NOT NULL,
    at          timestamptz NOT NULL DEFAULT now()
);
CREATE TABLE orders (
    order_id   text PRIMARY KEY,
    state      int NOT NULL DEFAULT 0,
    version    int NOT NULL DEFAULT 0,
    contact    jsonb NOT NULL DEFAULT '{}',
    data       jsonb NOT NULL DEFAULT '{}',
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now()
);
CREATE TABLE moves (
    order_id   text NOT NULL,
    source     text NOT NULL,
    event_id   text NOT NULL,
    outcome    text NOT NULL,
    from_state int NOT NULL,
    to_state   int NOT NULL,
    version    int NOT NULL,
    at         timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX moves_order ON moves (order_id);
CREATE TABLE outbox (
    once       text PRIMARY KEY,
    type       text NOT NULL,
    order_id   text NOT NULL,
    event_id   text NOT NULL,
    channel    text NOT NULL,
    address    text NOT NULL,
    data       jsonb NOT NULL,
    state      int NOT NULL DEFAULT 0,
    tries      int NOT NULL DEFAULT 0,
    due_at     timestamptz NOT NULL DEFAULT now(),
    created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX outbox_due ON outbox (due_at) WHERE state = 0;
