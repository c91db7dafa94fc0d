-- Bearer tokens for push providers, shared by all dispatchers: one of them makes a new one, all use it. A row a provider
-- identity (who signs, for what, with which key; docs/adr/0006). Times are of the database's clock.

CREATE TABLE provider_tokens (
    identity      uuid PRIMARY KEY,
    driver        text COLLATE "C" NOT NULL,
    token         bytea,                                      -- sealed with the provider's own key; NULL = none yet
    generation    int8 NOT NULL DEFAULT 0,                    -- raised with each token
    made_at       timestamptz NOT NULL DEFAULT now(),
    refresh_after timestamptz NOT NULL DEFAULT '-infinity',
    expires_at    timestamptz NOT NULL DEFAULT '-infinity',
    held_until    timestamptz NOT NULL DEFAULT '-infinity',   -- nobody begins to make one before
    held_by       uuid                                        -- who does; NULL = nobody, the last try failed
);

-- Nobody else: not the operator either.
GRANT SELECT, INSERT, UPDATE, DELETE ON provider_tokens TO pawl_dispatcher;
