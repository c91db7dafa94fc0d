// pick.h: which deliveries a command acts on: those of one notification, or all that fit a filter.
#pragma once
#include "cli/flags.h"
#include "common/keys.h"
#include "common/pg/pg.h"
#include "dispatcher/delivery.h"

enum { PICK_MAX = 1000, PICK_MAX_MOST = 20000 };

struct picked {
    int bucket;
    struct key notification;
    enum channel_kind channel;
    int redrive;
    enum delivery_state state;
    int tries, unknown_tries, possible_duplicates;
    int type;
    char *target, *type_name, *order, *address, *reason; // order and reason may be NULL
    char *recipient; // the contact's own id; NULL = known by the address
    bool sendable;   // the values that it is rendered from are still there
    bool latest;     // there is no later redrive of it
    char *held; // what would hold it if sent anew, "withheld by cap .." (room.h); NULL = nothing

    bool taken;    // it fits the command
    bool answered; // the database said what it did with it
    bool done;     // the database says so
    char *why;     // why not, or what became of it
    enum delivery_state now;
};

struct picks {
    struct picked *rows;
    size_t n;
    bool more; // as many as the filter may find: others may fit too
};
void picks_fini(struct picks *picks);
#define AUTO_PICKS __attribute__((cleanup(picks_fini)))

struct filter {
    bool one; // of the notification `id`
    struct key id;
    int channel; // -1 = any
    int states[STATES_MAX];
    size_t n_states;
    const char *type, *provider, *order; // NULL = any; provider: of the last try
    int64_t since_s, until_s, max;
    bool older; // those that were sent anew already, too
};

// Reads ID or the flags of a filter; at least one of them must be there. fallback: the state that
// a filter asks for unless --state says another.
MUST_CHECK bool filter_read(const struct call *call, enum delivery_state fallback,
        struct filter *ret_filter, struct err *err);

// ERR_NOTFOUND when a notification has no delivery. Sorted in the order in which rows are locked.
MUST_CHECK bool picks_read(
        struct pg *pg, const struct filter *filter, struct picks *ret_picks, struct err *err);
