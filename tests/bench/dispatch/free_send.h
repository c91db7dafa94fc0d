// free_send.h: a sender without a network: every try is accepted at once. It stands in for
// dispatcher/send/transport.c, so that what is left is claim, render, store and record.
#pragma once
#include "common/base.h"

// How many tries were started so far; after the first `limit` of them the process asks itself to
// stop (0 = no limit), and so it does `for_ms` after the first (0 = never).
struct free_send_plan {
    int64_t limit, for_ms;
};
void free_send_plan(const struct free_send_plan *plan);
int64_t free_send_count(void);
