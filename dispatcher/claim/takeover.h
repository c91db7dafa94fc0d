// takeover.h: ends leases that ran out (any dispatcher, about once a second), and renews our own.
#pragma once
#include "dispatcher/lease.h"
#include "dispatcher/work.h"

// One expired claim a run: members that still are in the step it claimed become unknown (at most
// once) or due again (at least once, their next try is a possible duplicate); then it is deleted.
struct takeover;
// sender: the policy of now, whose providers say which of them can be asked what became of a try.
struct takeover *takeover_new(
        const struct leases *leases, const struct policy *(*sender)(void *user), void *user);
void takeover_free(struct takeover *takeover);
struct work_kind takeover_work(struct takeover *takeover);
bool takeover_found(const struct takeover *takeover); // the last run ended a lease: run again soon

// Prolongs the leases of all batches that are not lost; one that is no longer ours becomes lost.
struct renewal;
struct renewal *renewal_new(struct leases *leases);
void renewal_free(struct renewal *renewal);
struct work_kind renewal_work(struct renewal *renewal);
