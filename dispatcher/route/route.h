// route.h: which provider a try goes to and whether it may go now, with all that is remembered for
// it: breakers, what is in flight, permits of rates, the budget of retries. One thread; times are
// clock_mono_ms().
//
// What is known is this process's own: a dispatcher learns by itself that a provider is down. Only
// rates are shared (permits.h).
#pragma once
#include "dispatcher/delivery.h"
#include "dispatcher/work.h"

enum {
    ROUTE_CONCURRENCY = 100,      // tries at once of a provider that says nothing
    ROUTE_LOOK_MS = 30 * 1000,    // while all breakers of a channel are open, some rows are ..
    ROUTE_LOOK_ROWS = 200,        // .. looked at so often: what expired ends, the others wait
    ROUTE_LATER_MS = 60 * 1000,   // no row waits longer before it is looked at again
    ROUTE_TRIAL_MS = 20,          // a trial is out: has it ended?
    ROUTE_FULL_MS = 5,            // all its transfers are taken: looked at again
    ROUTE_GATHER_PART = 8,        // of a provider's transfers are few
    ROUTE_PAUSED_MS = 5000,       // its provider is paused: looked at again
    ROUTE_ROOM_MS = 100,          // its provider has no room just now
    ROUTE_BUDGET_LEAST_MS = 1000, // over the budget of retries: looked at again, up to ..
    ROUTE_BUDGET_MOST_MS = 5000,
};

struct route_options {
    // Does this driver recognise a repeated key, and for how long? 0 = no.
    int64_t (*key_window_s)(enum channel_kind channel, const char *driver);
    // Is nothing to be handed to it, because an operator paused it? May be NULL.
    bool (*paused)(void *user, const struct provider *provider);
    // A breaker was opened (open_ms: for how long) or closed (0). May be NULL.
    void (*changed)(void *user, enum channel_kind channel, const char *provider, int64_t open_ms);
    void *user;
};

struct route;
struct route *route_new(const struct route_options *options);
void route_free(struct route *route); // NULL is fine

// The active policy: to be called whenever it may be another one, before what follows. Borrowed
// until the next call. What was learnt about a provider stays with its name.
void route_policy(struct route *route, const struct policy *policy);

// How many rows of a channel a claim may take now, `free` at most: 0 while every provider's breaker
// is open, or there is no permit. Then *ret_wait_ms: when to ask again. gather: a few transfers of
// a provider that is nearly full are not worth a claim.
int route_room(struct route *route, enum channel_kind channel, int free, bool gather,
        int64_t now_ms, int64_t *ret_wait_ms);

// Chooses the provider of the next try: delivery->provider is its name from then on, and it counts
// as in flight until route_ended(); NULL when no provider of the active policy is for it. False: it
// can't go now; *ret_wait_ms says when to look again.
bool route_choose(
        struct route *route, struct delivery *delivery, int64_t now_ms, int64_t *ret_wait_ms);

// How it ended, or that it did not start (ATTEMPT_GIVEN_BACK). Also for one that was not routed:
// nothing. Fills delivery->result.other.
void route_ended(struct route *route, struct delivery *delivery, int64_t now_ms);

// The provider of the active policy that a routed delivery goes to; NULL = there is none any more.
const struct provider *route_provider(const struct route *route, const struct delivery *delivery);

// The provider of a routed delivery takes nothing any more: its breaker has opened, or it is passed
// by since. Not of the one that its breaker waits for.
bool route_shut(const struct route *route, const struct delivery *delivery);

// Permits are to be asked for before this channel is claimed for; then run the work once.
bool route_asks(struct route *route, enum channel_kind channel, int64_t now_ms);
struct work_kind route_work(struct route *route);
