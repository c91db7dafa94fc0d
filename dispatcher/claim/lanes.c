#include "dispatcher/claim/lanes.h"

void lanes_init(struct lanes *lanes, enum channel_kind channel)
{
    *lanes = (struct lanes){.channel = channel};
}

static const enum priority orders[][PRIORITY_COUNT] = {
        {PRIORITY_HIGH, PRIORITY_NORMAL, PRIORITY_LOW},
        {PRIORITY_NORMAL, PRIORITY_HIGH, PRIORITY_LOW},
        {PRIORITY_LOW, PRIORITY_HIGH, PRIORITY_NORMAL},
};

static const enum priority *order_of(unsigned turn)
{
    if (turn % 16 == 0)
        return orders[2];
    return orders[turn % 4 == 0];
}

// The deepest first: of those that are due one scan is made.
static const struct depth {
    int64_t margin_us;
    int64_t every_ms;
} depths[LANES_DEPTHS] = {
        {INT64_MAX, LANES_WHOLE_EVERY_MS},
        {(int64_t)LANES_LATE_MARGIN_MS * 1000, LANES_LATE_EVERY_MS},
        {(int64_t)LANES_DEEP_MARGIN_MS * 1000, LANES_DEEP_EVERY_MS},
        {(int64_t)LANES_MARGIN_MS * 1000, 0},
};

static int64_t margin_us(struct lanes *lanes, int64_t now_ms)
{
    int depth = 0;
    while (depth < LANES_DEPTHS - 1 && now_ms < lanes->at_ms[depth])
        depth++;
    lanes->at_ms[depth] = now_ms + depths[depth].every_ms;
    for (int i = 0; i < PRIORITY_COUNT; i++)
        lanes->whole[i] = depth == 0;
    return depths[depth].margin_us;
}

void lanes_next(struct lanes *lanes, int64_t now_ms, struct lanes_plan *ret_plan)
{
    const enum priority *order = order_of(++lanes->turn);
    int64_t margin = margin_us(lanes, now_ms);
    for (int i = 0; i < PRIORITY_COUNT; i++) {
        int64_t mark = lanes->mark_us[order[i]];
        ret_plan->lane[i] = lane_of(lanes->channel, order[i]);
        ret_plan->from_us[i] = mark > margin ? mark - margin : 0;
    }
}

void lanes_claimed(struct lanes *lanes, int lane, int64_t due_us)
{
    int priority = lane % 10;
    bool planned = lanes->turn > 0; // else by a plan of before lanes_init()
    if (!planned || priority >= PRIORITY_COUNT)
        return;
    if (lanes->whole[priority] || due_us > lanes->mark_us[priority])
        lanes->mark_us[priority] = due_us;
    lanes->whole[priority] = false;
}
