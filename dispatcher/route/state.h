// state.h: what route.c and ask.c share.
#pragma once
#include "dispatcher/route/route.h"
#include "dispatcher/route/row.h"

enum { ROUTE_ASKED_MAX = 2 * CHOOSE_MAX };

struct route {
    struct route_options options;
    const struct policy *policy;
    struct row *rows; // of all channels in the policy's order; what is gone from it comes last
    size_t n;
    struct permits channels[CHANNEL_COUNT];
    int64_t look_ms[CHANNEL_COUNT]; // while all breakers are open: the next look; 0 = they are not
    uint64_t random;
    // What the work asks for, or has asked for.
    struct asked {
        struct permits *permits;
        char scope[ROUTE_NAME_MAX + 16]; // "email", "email/smtp"
    } asked[ROUTE_ASKED_MAX];
    size_t n_asked;
};

// The rows of a channel's providers that run, in the policy's order; at most CHOOSE_MAX.
size_t route_rows(struct route *route, enum channel_kind channel, struct row *ret_rows[CHOOSE_MAX]);
