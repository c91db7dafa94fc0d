// owed.h: what the policy versions of a time owe, as the arrays that invariants are asked with.
#pragma once
#include "common/pg/pg.h"

// Rows of three numbers.
struct triples {
    int32_t (*rows)[3];
    size_t n;
};

// A cap and a message that it holds.
struct owed_cap {
    int32_t policy, message;
    char *rule; // what two versions that count together have in common
    int32_t most;
    int64_t in_s;
    bool across, by_order;
};

enum { OWED_VERSIONS_MAX = 256 };

struct owed {
    struct triples messages; // policy version, state, message that an applied move to it owes
    struct triples steps;    // policy version, message, channel that a notification owes a delivery
    struct owed_cap *caps;
    size_t n_caps;
    int64_t keep_keys_s; // of the active policy
    size_t unreadable;   // versions that this binary can't read: nothing is said of theirs
    bool more;           // nor of those before the newest OWED_VERSIONS_MAX: there are some
};
void owed_fini(struct owed *owed);
#define AUTO_OWED __attribute__((cleanup(owed_fini)))

// Reads the versions that were worked under in the last since_s seconds. versions: the number of
// that statement. May prepare further statements on pg.
MUST_CHECK bool owed_load(
        struct pg *pg, int versions, int64_t since_s, struct owed *ret_owed, struct err *err);

// Adds the three parameters.
void owed_params(struct pg *pg, const struct triples *triples);

// Adds the seven parameters: policy version, message, rule, across, per order, most, seconds.
void owed_caps_params(struct pg *pg, const struct owed *owed);
