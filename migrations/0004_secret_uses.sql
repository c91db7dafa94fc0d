-- When each secret of a source last matched a request, so that an old one can be dropped once nothing uses it. A row a
-- secret, written at most once a minute by each receiver.

CREATE TABLE secret_uses (
    source   int NOT NULL,
    secret   text COLLATE "C" NOT NULL, -- the credential's name
    first_at timestamptz NOT NULL,
    last_at  timestamptz NOT NULL,
    PRIMARY KEY (source, secret)
);

GRANT SELECT, INSERT, UPDATE ON secret_uses TO pawl_receiver;
GRANT SELECT ON secret_uses TO pawl_operator;
