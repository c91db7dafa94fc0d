// results.h: takes what the statements of a transaction returned into its batch.
#pragma once
#include "receiver/accept/rows.h"
#include "receiver/accept/txn.h"

// A transaction under way.
struct work {
    struct txn *txn;
    struct pg *pg;
    struct batch *batch;
    const struct once_keys *once;
    int64_t deadline_ms;
    struct err *err;
    struct pick leads, won, repeats, kept; // kept: bodies to be stored
    struct pick bytes, fresh, suspects;    // by key of signed bytes: asked, new, seen before
    struct pick told; // duplicates, and what is run again, whose senders are told the outcome
    bool run_again;   // some of it was committed by an earlier try
};

static inline void pick_add(struct pick *pick, size_t index)
{
    pick->at[pick->n++] = index;
}

// True when policy version and key generation are what this process worked with; else they are
// taken over.
bool results_up_to_date(struct work *work, int call);

void results_won(struct work *work, const struct pick *asked, int call);
// Keys of signed bytes: those that were new go to ret_fresh, the others to work->suspects.
void results_signed(struct work *work, const struct pick *asked, int call, struct pick *ret_fresh);
void results_replays(struct work *work, int call);

enum event_outcome first_outcome(const struct item *item);
void results_repeats(struct work *work, int call);
void results_stored(struct work *work, int call);
MUST_CHECK bool results_orders(struct work *work, int call);
void results_wait(struct work *work, int row);
void results_made(struct work *work, int call);
