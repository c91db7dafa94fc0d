-- The schema and its ledger: what has to be there before the first migration. A script, not a statement.
-- returns: nothing
CREATE SCHEMA IF NOT EXISTS pawl;
REVOKE ALL ON SCHEMA pawl FROM PUBLIC;
CREATE TABLE IF NOT EXISTS pawl.migrations (
    number     int PRIMARY KEY,
    name       text NOT NULL,
    sha256     text NOT NULL,
    applied_at timestamptz NOT NULL DEFAULT now(),
    by_version text NOT NULL
);
