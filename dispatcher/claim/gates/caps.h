// caps.h: which caps hold a delivery, and when one that was too much may ask again. Pure.
//
// A cap's name is its rule and whom it counts for: "MESSAGE/most/seconds/per/channel SUBJECT",
// where MESSAGE is `limits` for those over all messages, channel is * across channels, and SUBJECT
// is a hash (no address is kept in it). Two versions of a policy that say the same count together;
// a rule whose numbers change counts from nothing.
#pragma once
#include "dispatcher/delivery.h"

// Fills delivery->caps, unless it was done: those of its message, and the limits that hold it. A
// cap per order does not hold a message without one.
void caps_of(const struct message *message, struct delivery *delivery);

// Where the slots of such caps are, whatever the policy: the bucket of those per order (-1 = it has
// none) and of those per recipient. Of the delivery only channel, address, order_id and recipient
// are read.
void caps_buckets(const struct delivery *delivery, int *ret_order, int *ret_recipient);

// The state of one cap that is full.
struct cap_room {
    int most;
    int64_t in_ms;
    int held;               // slots whose deliveries have no end yet
    const int64_t *free_ms; // when each of the others is free, ascending; perhaps only the first
    size_t n_free;
};

enum {
    CAP_PROBE_MS = 50,          // held slots may be given back: the first to wait looks so soon ..
    CAP_PROBE_MAX_MS = 30000,   // .. to so late
    CAP_AGAIN_MS = 20,          // who lost a race for a free slot
    CAP_WAIT_MAX_MS = 86400000, // it looks again at least once a day
};

// In how many milliseconds the rank-th (from 0) of those that this cap defers may ask again: two
// for each slot that becomes free, since not every one takes it. random: any 32 bits, spread them.
int64_t cap_wait_ms(const struct cap_room *room, size_t rank, uint32_t random);
