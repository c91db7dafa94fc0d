// turns.h: whose turn it is to claim, and how much: each channel has a pace and transfer slots of
// its own, so that neither the backlog of one nor a peer of it that hangs holds another up. Pure.
#pragma once
#include "common/config/policy.h"

enum {
    TURNS_IDLE_FACTOR = 4,      // an idle channel is asked for so many times slower
    TURNS_INACTIVE_MS = 5000,   // one that the active policy does not send by: what is left of it
    TURNS_GATHER_PART = 8,      // see turns_next()
    TURNS_EXTRA = CHANNEL_COUNT // so many transfers more than given there may be in all
};

struct turns {
    int transfers; // in flight at once, all channels together
    int64_t poll_ms;
    const int *used; // by channel: its transfers in flight
    bool active[CHANNEL_COUNT];
    enum channel_kind asked; // the last one
    struct turn {
        bool more_due;   // its last claim came back full ..
        int64_t full_ms; // .. at this moment
        int64_t at_ms;   // its next claim
        int64_t idle_ms; // how long it waits when it finds nothing
    } channels[CHANNEL_COUNT];
};

// used is borrowed: CHANNEL_COUNT counts that the caller keeps up to date.
void turns_init(struct turns *turns, int transfers, int64_t poll_ms, const int *used);
void turns_policy(struct turns *turns, const struct policy *policy); // the active one
void turns_now(struct turns *turns); // every channel may claim at once

// How many more a channel may start. What active channels share between them is `transfers`, of
// which each has a part (1 at least) that no other takes.
int turns_free(const struct turns *turns, enum channel_kind channel);

// The channel to claim for now, in turn, and how many: CHANNEL_NONE = none. Where more is due than
// fits, a few ended transfers are worth one poll's wait, not a claim each.
enum channel_kind turns_next(struct turns *turns, int64_t now_ms, int *ret_free);
int64_t turns_at_ms(const struct turns *turns); // when to ask again; INT64_MAX: when a slot is free

// What the claim for the last channel brought: rows, and whether there may be more; or that it is
// to be made again at once.
void turns_took(struct turns *turns, int64_t now_ms, int rows, bool full);
void turns_wait(struct turns *turns, int64_t at_ms); // nothing can start before
// Is more due, and the poll's wait not over?
bool turns_gathers(const struct turns *turns, int64_t now_ms);
void turns_again(struct turns *turns, int64_t now_ms);
