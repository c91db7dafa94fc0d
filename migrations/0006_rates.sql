-- Which provider a try went to, and how fast messages may leave over all dispatchers.

-- One row a rate: a channel ("email"), or one of its providers ("email/smtp").
CREATE TABLE rates (
    scope   text COLLATE "C" PRIMARY KEY,
    free_at timestamptz NOT NULL -- from when on the next permit counts; a time gone by is saved up only in part
) WITH (fillfactor = 20, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000,
        autovacuum_vacuum_cost_delay = 0);

-- By name, as the policy has it: a number would need a list of names that lives as long as the deliveries. Nothing was
-- ever written to the number.
ALTER TABLE deliveries DROP COLUMN provider;
ALTER TABLE deliveries ADD COLUMN provider text COLLATE "C";                   -- of the last try
ALTER TABLE deliveries ADD COLUMN provider_at timestamptz;                     -- first try with that one, without another between
ALTER TABLE deliveries ADD COLUMN passed_on boolean NOT NULL DEFAULT false;    -- it refused for a reason of its own
ALTER TABLE deliveries ADD COLUMN free_tries int NOT NULL DEFAULT 0;           -- steps that say nothing about the message

ALTER TABLE attempts ADD COLUMN provider text COLLATE "C";

GRANT SELECT, INSERT, UPDATE ON rates TO pawl_dispatcher;
GRANT SELECT ON rates TO pawl_operator;
