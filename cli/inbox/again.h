// again.h: one kept request, verified again as of the moment it was received.
#pragma once
#include "common/pg/pg.h"
#include "common/text.h"
#include "receiver/http/stages.h"

enum { AGAIN_REASON_MAX = 64 };

struct again {
    struct key id;
    int64_t received_us;
    char before[AGAIN_REASON_MAX]; // why it was refused
    const char *now;               // "ok", or why it still is; NULL = not verified: its body is cut
    bool hidden;                   // a secret that it may have carried is not kept
    struct arrival *arrival;       // when authentic; yours. Its id is the request's: taken once
};

// How requests are verified again.
struct again_how {
    const struct source *source; // by whose secrets and rules
    size_t body_max;             // bytes that a body may have with its Content-Encoding undone
    int64_t *wait_ms; // so long a key is waited for that its provider publishes and that is not
                      // there yet
};

// Of a row of kept_requests.sql.
void again_verify(
        const struct pg *pg, int row, const struct again_how *how, struct again *ret_again);

// What became of the events of an arrival that accept has processed.
enum { AGAIN_OUTCOMES = EVENT_UNMAPPED + 1 };
struct again_outcomes {
    size_t n[AGAIN_OUTCOMES]; // by enum event_outcome
};
void again_count(const struct arrival *arrival, struct again_outcomes *outcomes);
// "accepted", "accepted 2, duplicate 1"; "none" without an event.
void again_write(const struct again_outcomes *outcomes, struct text *out);
