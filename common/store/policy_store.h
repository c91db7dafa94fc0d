// policy_store.h: policy versions in the database: stored whole and for ever, the highest one is
// active.
#pragma once
#include "common/config/policy.h"
#include "common/pg/pg.h"
#include "common/store/policy_store_sql.h"

// --- For programs, on their own connection, between transactions.

// policy_store_statements[] (POLICY_STORE_COUNT rows) are the store's reading statements: either
// part of the caller's own list, `base` being where they start in it, or prepared after connecting
// by policy_store_prepare(), which says the base. Rights needed: SELECT on policy_versions,
// policy_texts and names. Each call is one flight of at most 10 s.
MUST_CHECK bool policy_store_prepare(struct pg *pg, int *ret_base, struct err *err);

// The active version's number; 0 when no policy was ever applied.
MUST_CHECK bool policy_store_active(struct pg *pg, int base, int *ret_version, struct err *err);

// Loads a version (0 = the active one) with its names bound. Yours: policy_unref(). NULL + err:
// ERR_NOTFOUND when there is none, ERR_FATAL when this binary can't use what is stored, ERR_TEMP
// when the database fails. known may be NULL.
MUST_CHECK struct policy *policy_store_load(
        struct pg *pg, int base, int version, const struct policy_known *known, struct err *err);

// --- For the command line, on a connection of its own; conninfo without a role.

MUST_CHECK struct policy *policy_store_load_from(const char *conninfo, const char *role,
        int version, const struct policy_known *known, struct err *err);

struct policy_stored {
    int version;
    bool is_new; // false: the active version has the same texts, nothing was stored
};

// Stores a checked policy as the next version, numbers its new names, writes the audit, and so
// makes it the active one: all in one transaction, as pawl_operator. Safe to run again after any
// failure.
MUST_CHECK bool policy_store_apply(const char *conninfo, const struct policy *policy,
        const char *note, const char *author, struct policy_stored *ret_stored, struct err *err);

struct policy_version {
    int version;
    char *sha256, *note, *author;
    int64_t applied_us; // unix time
};

// All versions, newest first, at most 10,000. Free with policy_versions_free().
MUST_CHECK bool policy_store_list(
        const char *conninfo, struct policy_version **ret_versions, size_t *ret_n, struct err *err);
void policy_versions_free(struct policy_version *versions, size_t n);
