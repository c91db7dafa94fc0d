// steps.h: the parts of one pass.
#pragma once
#include "dispatcher/retention/sweep.h"

enum { RING_COUNT = 7 };
extern const struct ring rings[RING_COUNT]; // in the order of slots_sql in meson.build

// What there was at the start of the pass.
struct look {
    int version;
    int64_t now_s;
    struct generation generation;
    int64_t key_bytes[KEY_SLOTS];
    int64_t bytes[RING_COUNT][RING_SLOTS];
};

// How a flight that takes a lock or asks a guard ended.
enum tried {
    TRIED_DONE,
    TRIED_BUSY, // somebody holds it: 55P03
    TRIED_NO,   // it is no longer so (22012)
    TRIED_FAILED,
};
// Flies what was added and waits for it, but not when the process is to stop.
MUST_CHECK bool sweep_fly(struct sweep *sweep, struct err *err);
// As sweep_fly; after a failure the transaction is rolled back.
enum tried sweep_try(struct sweep *sweep, struct err *err);

MUST_CHECK bool step_keys(
        struct sweep *sweep, const struct keep *keep, const struct look *look, struct err *err);
MUST_CHECK bool step_rings(
        struct sweep *sweep, const struct keep *keep, const struct look *look, struct err *err);
MUST_CHECK bool step_blank(struct sweep *sweep, const struct keep *keep, struct err *err);
MUST_CHECK bool step_cap_slots(struct sweep *sweep, struct err *err);
MUST_CHECK bool step_waiting(struct sweep *sweep, const struct keep *keep, struct err *err);
