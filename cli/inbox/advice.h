// advice.h: the reasons of refusals (receiver/verify/reason.def) in plain words, and what to do.
#pragma once
#include "common/base.h"

struct advice {
    const char *reason;
    const char *means;
    const char *next;
};
// That of a reason; of one that is not known, one that says so. Never NULL.
const struct advice *advice_of(struct slice reason);
