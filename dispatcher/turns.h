// turns.h: whose turn it is to claim, and how much: each channel has a pace and transfer slots of
// its own, so that neither the backlog of one nor a peer of it that hangs holds another up. Pure.
#pragma once
#include "common/config/policy.h"

enum {
    TURNS_IDLE_FACTOR = 4,      // an idle channel is asked for so many times slower
    TURNS_INACTIVE_MS = 5000,   // one that the active policy does not send by: what is left of it
    TURNS_GATHER_PART = 4,      // see turns_next()
    TURNS_AHEAD_MS = 100,       // what was accepted in so long may be claimed ahead ..
    TURNS_AHEAD_MAX = 1000,     // .. but no more
    TURNS_QUICK_MS = 250,       // .. and of that only what took no longer
    TURNS_EXTRA = CHANNEL_COUNT // so many transfers more than given there may be in all
};

struct turns {
    int transfers; // in flight at once, all channels together
    int64_t poll_ms;
    const int *used;    // by channel: its transfers in flight
    const int *stocked; // by channel: claimed ahead, without a transfer so far
    const int *coming;  // by channel: rows that claims under way have taken
    bool active[CHANNEL_COUNT];
    enum channel_kind asked; // the last one
    struct turn {
        bool more_due;   // its last claim came back full ..
        int64_t full_ms; // .. at this moment
        int64_t at_ms;   // its next claim
        int64_t idle_ms; // how long it waits when it finds nothing
        bool paced;      // it has a rate, or a provider of it: nothing is claimed ahead
        int64_t tick;    // of TURNS_AHEAD_MS: the one in which ..
        int accepted, accepted_before; // .. and before which so many were accepted
    } channels[CHANNEL_COUNT];
};

// The counts are borrowed: CHANNEL_COUNT each, which the caller keeps up to date.
void turns_init(struct turns *turns, int transfers, int64_t poll_ms, const int *used,
        const int *stocked, const int *coming);
void turns_policy(struct turns *turns, const struct policy *policy); // the active one
void turns_now(struct turns *turns); // every channel may claim at once

// How many more a channel may start. What active channels share between them is `transfers`, of
// which each has a part (1 at least) that no other takes.
int turns_free(const struct turns *turns, enum channel_kind channel);

// Where providers answer fast, transfers would wait for claims. So as many as were accepted a
// moment ago are claimed ahead: they are gone within about TURNS_AHEAD_MS again. A provider that
// takes its time has none waiting, though its answers may come all at once; and neither has a
// channel with a rate. took_ms: the time that the accepted one was on the wire.
void turns_accepted(
        struct turns *turns, enum channel_kind channel, int64_t took_ms, int64_t now_ms);
int turns_ahead(const struct turns *turns, enum channel_kind channel, int64_t now_ms);

// The channel to claim for now, in turn, and how many: CHANNEL_NONE = none. Where more is due than
// fits, a few are worth one poll's wait, not a claim each.
enum channel_kind turns_next(struct turns *turns, int64_t now_ms, int *ret_free);
int64_t turns_at_ms(const struct turns *turns,
        int64_t now_ms); // when to ask again; INT64_MAX: when a slot is free

// What the claim for a channel took: rows, and whether there may be more; or that it is to be made
// again at once.
void turns_took(
        struct turns *turns, enum channel_kind channel, int64_t now_ms, int rows, bool full);
void turns_again(struct turns *turns, enum channel_kind channel, int64_t now_ms);
// Nothing of it can start before.
void turns_wait(struct turns *turns, enum channel_kind channel, int64_t at_ms);
// Is more due, and the poll's wait not over?
bool turns_gathers(const struct turns *turns, enum channel_kind channel, int64_t now_ms);
