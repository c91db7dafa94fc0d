// budget.h: how many retries a provider that fails at large is given: one for ten first tries.
// Pure.
//
// So that what failed does not keep a provider down, nor fill the wire with possible duplicates.
#pragma once
#include "common/base.h"

#define BUDGET_PART 0.1     // of first tries
#define BUDGET_MOST 10.0    // saved up at most
#define BUDGET_A_SECOND 1.0 // without any first try, so that a backlog of retries moves
#define BUDGET_AT_LARGE 0.5 // share of the last tries that failed, from which on it counts
#define BUDGET_MEMORY 16.0  // the last so many tries, roughly

// Zeroed: nothing has failed.
struct budget {
    double tokens, failing;
    int64_t filled_ms; // monotonic, 0 = never
};

// Does the provider fail at large?
bool budget_counts(const struct budget *budget);

// A first try: free, and a tenth of a retry.
void budget_first(struct budget *budget);
// May a retry start? When the budget counts, it costs one of it.
bool budget_retry(struct budget *budget, int64_t now_ms);
// That retry did not start.
void budget_back(struct budget *budget);
// How a try ended: failed at the provider, or without a definite answer.
void budget_ended(struct budget *budget, bool failed);
