// policies.h: the policy versions a dispatcher works with: a few in memory, one of them the sender.
//
// A notification is rendered and retried by the version it remembers; providers and credentials are
// those of the active version, so that what an admin corrects holds for what already waits. All
// loading waits for the database (bounded) and happens between transactions; it is rare.
#pragma once
#include "common/pg/pg.h"
#include "dispatcher/render/render.h"

enum {
    POLICIES_KEPT = 8,
    POLICIES_BROKEN_MS = 10000, // a version that could not be loaded is not asked for again within
};

struct policies;

struct policies_options {
    const char *credentials;          // directory
    const struct policy_known *known; // may be NULL
};

struct policies *policies_new(const struct policies_options *options);
void policies_free(struct policies *policies);

// Call once for each new connection, before anything below.
MUST_CHECK bool policies_connected(struct policies *policies, struct pg *pg, struct err *err);

// Loads a version into memory. False + err: it is broken for now (or pg is dead).
MUST_CHECK bool policies_load(
        struct policies *policies, struct pg *pg, int version, struct err *err);

// Makes the active version the sender, with its credentials read again. On an error the sender of
// before stays.
MUST_CHECK bool policies_refresh(struct policies *policies, struct pg *pg, struct err *err);

// The sender: NULL before the first successful refresh.
const struct policy *policies_sender(const struct policies *policies);

// NULL when it is not in memory; *ret_broken then says if it was tried and failed lately.
const struct render_context *policies_rules(
        struct policies *policies, int version, bool *ret_broken);
