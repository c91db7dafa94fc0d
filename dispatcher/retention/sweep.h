// sweep.h: one pass of retention over an open connection as pawl_maint: what is too old goes, slot
// by slot, and what must not go yet stays.
//
// Blocking, for a thread of its own. Any number of processes may pass at once: what is decided here
// is asked again by the statement that holds the lock.
#pragma once
#include "common/pg/pg.h"
#include "dispatcher/retention/decide.h"

#include <stdatomic.h>

// What the active policy says.
struct keep {
    int version; // 0 = none known: nothing is done
    int64_t keys_s, bodies_s, park_s;
};

struct sweep {
    struct pg *pg;
    const atomic_bool *stop; // true = give up what is waited for; may be NULL
    bool hung;               // a flight was left in the air: the connection can only be closed
    int rings, keys;         // first statement of slots/ring_*.sql and of slots/keys_truncate.sql
    int64_t watched;         // generation whose overlap .running holds up; 0 = none
    char **running;          // transactions from before its flip was visible
    size_t n_running;
    int slot_bucket, slot_nth; // the cap slot that this process looked at last
    char *slot_cap;            // NULL = none of that bucket
};

// Connects (bounded by 2 s). False + err: ERR_FATAL when the schema does not fit.
MUST_CHECK bool sweep_open(struct sweep *sweep, const char *conninfo, struct err *err);
void sweep_close(struct sweep *sweep); // a zeroed one is fine; .stop stays

// One pass; what is postponed (a reader holds it, a transaction is left) waits for the next. False
// + err: the database failed; the connection may be dead then.
MUST_CHECK bool sweep_pass(struct sweep *sweep, const struct keep *keep, struct err *err);
