#include "receiver/accept/judge.h"

#include <assert.h>

static bool on_path(const struct flow *flow, int state)
{
    return (size_t)state < flow->n_path;
}

static bool is_done(const struct flow *flow, const struct standing *order, int to)
{
    if (order->state == to || (order->done >> to & 1))
        return true;
    return order->state >= 0 && on_path(flow, order->state) && on_path(flow, to) &&
           order->state > to;
}

static bool may_step(const struct flow *flow, int from, int to)
{
    return flow->may[(size_t)from * flow->n_states + (size_t)to];
}

// Whether some series of steps leads from one state to the other.
static bool reachable(const struct flow *flow, int from, int to)
{
    uint64_t seen = UINT64_C(1) << from, next = seen;
    while (next) {
        int at = __builtin_ctzll(next);
        next &= next - 1;
        for (int state = 0; state < (int)flow->n_states; state++) {
            uint64_t bit = UINT64_C(1) << state;
            if ((seen & bit) || !may_step(flow, at, state))
                continue;
            if (state == to)
                return true;
            seen |= bit;
            next |= bit;
        }
    }
    return false;
}

enum move_outcome judge(
        const struct flow *flow, const struct standing *order, const struct claimed_step *step)
{
    assert(flow->n_states <= FLOW_STATES_MAX && step->to >= 0 && (size_t)step->to < flow->n_states);
    if (order->state == STATE_NONE)
        return flow->states[step->to].create ? MOVE_APPLIED : MOVE_UNKNOWN_ORDER;
    if (is_done(flow, order, step->to))
        return MOVE_ALREADY_DONE;
    if (step->has_sequence && order->has_last && step->sequence <= order->last_sequence)
        return MOVE_STALE;
    if (order->state == STATE_FOREIGN)
        return MOVE_CONFLICT;
    if (may_step(flow, order->state, step->to))
        return MOVE_APPLIED;
    return reachable(flow, order->state, step->to) ? MOVE_EARLY : MOVE_CONFLICT;
}
