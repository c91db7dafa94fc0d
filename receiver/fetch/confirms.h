// confirms.h: subscriptions that are being confirmed: each URL is called until it was taken, a few
// times at most, and not again for a while.
#pragma once
#include "receiver/pubkey.h"

enum {
    CONFIRMS_MAX = 16,
    CONFIRM_TRIES = 6,
    CONFIRM_WAIT_MS = 10000,  // before the second try; doubled by each further one
    CONFIRM_REST_MS = 600000, // one that is over is not called again before this
};

struct confirms { // zeroed = none
    struct confirm {
        char *url; // NULL = free
        int tries;
        int64_t due_ms; // of the next try, or the end of its rest
        bool over;
    } rows[CONFIRMS_MAX];
};

void confirms_fini(struct confirms *confirms);
bool confirms_known(const struct confirms *confirms, const char *url, int64_t mono_ms);
MUST_CHECK bool confirms_add(struct confirms *confirms, const char *url, int64_t mono_ms);
// The URL to call now, or NULL; valid until the next change.
const char *confirms_next(const struct confirms *confirms, int64_t mono_ms);
// KEY_UNAVAILABLE: it is tried again. Anything else is the end.
void confirms_done(
        struct confirms *confirms, const char *url, enum key_answer answer, int64_t mono_ms);
