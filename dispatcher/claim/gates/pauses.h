// pauses.h: what an operator has paused, as the last claim read it.
#pragma once
#include "dispatcher/delivery.h"
#include "dispatcher/work.h"

// Stored numbers.
enum pause_kind { PAUSE_ALL = 1, PAUSE_CHANNEL = 2, PAUSE_TYPE = 3, PAUSE_PROVIDER = 4 };

struct pause {
    int id;
    enum pause_kind kind;
    char *name;       // of the channel, message or provider; "" for all
    int type;         // PAUSE_TYPE: the message's stored number, 0 = there is none of that name
    char *reason;     // printable
    int64_t until_us; // database clock, 0 = until it is resumed
};

struct pauses {
    struct pause *rows;
    size_t n;
};
void pauses_fini(struct pauses *pauses); // zeroed is fine

// Replaces what is there by the rows of pauses.sql (result `call`).
void pauses_read(struct pauses *pauses, const struct pg *pg, int call);

// The pause that holds this delivery, NULL = none: one of all, of its channel or of its type; or,
// when every provider of its channel that takes its target is paused, that of the first one.
// channel may be NULL.
const struct pause *pauses_find(const struct pauses *pauses, const struct delivery *delivery,
        const struct channel *channel);

// The pause of a provider, or of the one of this name; NULL = none.
const struct pause *pauses_provider(const struct pauses *pauses, const struct provider *provider);
const struct pause *pauses_named(const struct pauses *pauses, const char *provider);

// Does this pause of a provider still hold what it put aside on the channel: are all providers
// paused that take the same? Not where another one was resumed meanwhile, or the policy has it no
// more.
bool pauses_holds_on(
        const struct pauses *pauses, const struct pause *pause, const struct channel *channel);

// Is this provider of the policy passed by: paused, while another one of its channel is not? When
// all are, what is due is taken and held, so that it still expires.
bool pauses_pass_by(
        const struct pauses *pauses, const struct policy *policy, const struct provider *provider);
