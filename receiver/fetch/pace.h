// pace.h: how many new URLs may be asked for: a few at once, then a few a minute, over all and of
// each source.
#pragma once
#include "common/base.h"

enum {
    PACE_ALL_BURST = 20, // at once, and then one a second
    PACE_ALL_EACH_MS = 1000,
    PACE_SOURCE_BURST = 10, // of one source, and then one in three seconds
    PACE_SOURCE_EACH_MS = 3000,
    PACE_SOURCES = 64, // sources beyond may share their pace
};

struct pace_bucket {
    int64_t full_ms; // when it is full again; 0 = it is
};
struct pace { // zeroed = full
    struct pace_bucket all, sources[PACE_SOURCES];
};

// Takes one permit of both, or of neither.
MUST_CHECK bool pace_take(struct pace *pace, const char *source, int64_t mono_ms);
