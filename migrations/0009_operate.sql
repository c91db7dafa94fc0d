-- What a person does to deliveries by hand, and what the dispatcher asks providers about.

-- The policy that a delivery goes by; NULL = its notification's. A redrive goes by the policy of the day.
ALTER TABLE deliveries ADD COLUMN policy int;
-- When the first try began whose outcome stayed unknown. A provider that recognises repeats does so for so long from then.
ALTER TABLE deliveries ADD COLUMN doubt_at timestamptz;

-- A claim whose members are looked up at their provider, not sent: they stay in their step and their state.
ALTER TABLE claims ADD COLUMN lookup boolean NOT NULL DEFAULT false;

-- "Who settled it" is asked by the thing that was acted on.
CREATE INDEX audit_object ON audit (object text_pattern_ops);

-- An unknown outcome is settled, what waits is cancelled, what ended is sent anew.
GRANT INSERT, UPDATE (state, reason, updated_at, provider_id, lookup_at) ON deliveries TO pawl_operator;
GRANT INSERT ON due, attempts TO pawl_operator;
GRANT INSERT, DELETE ON unknown_outcomes TO pawl_operator;
GRANT DELETE ON cap_slots TO pawl_operator;
