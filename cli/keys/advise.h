// advise.h: what becomes of a secret, by its dates and its uses. Pure.
#pragma once
#include "common/config/policy.h"

enum { UNUSED_S = 24 * 3600 }; // without a use for so long, while another is used: it can go

// Of one secret, unix seconds; 0 = never.
struct secret_use {
    int64_t first_s, last_s;
};

struct secret_advice {
    const char *state; // "live", "ended", "not yet"
    bool safe_to_drop;
    char says[120];
};

// The index-th of source's secrets; uses are in their order.
struct secret_advice secret_advise(
        const struct source *source, const struct secret_use uses[], size_t index, int64_t now_s);
