// judge.h: one event against one order: pure, no clock, no database, no allocation.
#pragma once
#include "receiver/arrival.h"

#define STATE_NONE (-1)    // a placeholder: nothing created this order yet
#define STATE_FOREIGN (-2) // its state is not in the flow of this policy

// What judging needs to know of an order. States are indexes into flow.states.
struct standing {
    int state;
    uint64_t done; // bit per state it has been in
    bool has_last; // a sequence of this event's source was seen
    int64_t last_sequence;
};

struct claimed_step {
    int to; // index into flow.states
    bool has_sequence;
    int64_t sequence;
};

// Precedence: already_done (at or past the target on the path, or among the steps done), stale
// (sequence not above the last one of that source), conflict (the order left the path, or can't
// come there any more), early (a step between is missing), applied. A placeholder is created by
// states marked `create`, all other events are unknown_order.
enum move_outcome judge(
        const struct flow *flow, const struct standing *order, const struct claimed_step *step);
