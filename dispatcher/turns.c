#include "dispatcher/turns.h"

void turns_init(struct turns *turns, int transfers, int64_t poll_ms, const int *used,
        const int *stocked, const int *coming)
{
    *turns = (struct turns){.transfers = transfers > 0 ? transfers : 1,
            .poll_ms = poll_ms,
            .used = used,
            .stocked = stocked,
            .coming = coming,
            .active = {[CHANNEL_EMAIL] = true}};
}

static bool is_paced(const struct channel *channel)
{
    bool paced = channel->rate > 0;
    for (size_t i = 0; i < channel->n_providers; i++)
        paced = paced || channel->providers[i].rate > 0;
    return paced;
}

void turns_policy(struct turns *turns, const struct policy *policy)
{
    turns_now(turns);
    for (int kind = CHANNEL_EMAIL; kind < CHANNEL_COUNT; kind++) {
        turns->active[kind] = policy->channels[kind].active;
        turns->channels[kind].paced = is_paced(&policy->channels[kind]);
    }
}

void turns_now(struct turns *turns)
{
    for (int kind = CHANNEL_EMAIL; kind < CHANNEL_COUNT; kind++)
        turns->channels[kind] =
                (struct turn){.idle_ms = turns->poll_ms, .paced = turns->channels[kind].paced};
}

// The part of an active channel that is its own.
static int part_of(const struct turns *turns)
{
    int n = 0;
    for (int kind = CHANNEL_EMAIL; kind < CHANNEL_COUNT; kind++)
        n += turns->active[kind];
    int part = n > 1 ? turns->transfers / (n + 1) : turns->transfers;
    return part > 0 ? part : 1;
}

int turns_free(const struct turns *turns, enum channel_kind channel)
{
    int part = part_of(turns), used = turns->used[channel];
    int left = turns->transfers - used, own = turns->active[channel] ? part - used : 1 - used;
    for (int kind = CHANNEL_EMAIL; kind < CHANNEL_COUNT; kind++) {
        int held = turns->active[kind] ? part : 0;
        if (kind != (int)channel)
            left -= turns->used[kind] > held ? turns->used[kind] : held;
    }
    int most = left > own ? left : own;
    return most > 0 ? most : 0;
}

void turns_accepted(struct turns *turns, enum channel_kind channel, int64_t took_ms, int64_t now_ms)
{
    struct turn *turn = &turns->channels[channel];
    if (took_ms > TURNS_QUICK_MS)
        return;
    int64_t tick = now_ms / TURNS_AHEAD_MS;
    if (tick != turn->tick) {
        turn->accepted_before = tick == turn->tick + 1 ? turn->accepted : 0;
        turn->accepted = 0;
        turn->tick = tick;
    }
    turn->accepted++;
}

int turns_ahead(const struct turns *turns, enum channel_kind channel, int64_t now_ms)
{
    const struct turn *turn = &turns->channels[channel];
    int64_t tick = now_ms / TURNS_AHEAD_MS;
    int last = tick <= turn->tick + 1 ? turn->accepted : 0;
    int before = tick == turn->tick ? turn->accepted_before : 0;
    int most = last > before ? last : before;
    if (turn->paced)
        return 0;
    return most < TURNS_AHEAD_MAX ? most : TURNS_AHEAD_MAX;
}

// How many a claim may take: what is claimed ahead has the free transfers first.
static int room(const struct turns *turns, enum channel_kind channel, int64_t now_ms)
{
    int n = turns_free(turns, channel) + turns_ahead(turns, channel, now_ms) -
            turns->stocked[channel] - turns->coming[channel];
    return n > 0 ? n : 0;
}

// When this channel's next claim is worth its while; INT64_MAX while none of its slots is free.
static int64_t wanted_ms(const struct turns *turns, enum channel_kind channel, int64_t now_ms)
{
    const struct turn *turn = &turns->channels[channel];
    int free = room(turns, channel, now_ms);
    int most = free + turns->used[channel] + turns->stocked[channel] + turns->coming[channel];
    if (free == 0)
        return INT64_MAX;
    bool gathers = turn->more_due && free <= most / TURNS_GATHER_PART;
    return gathers ? turn->at_ms + turns->poll_ms : turn->at_ms;
}

enum channel_kind turns_next(struct turns *turns, int64_t now_ms, int *ret_free)
{
    enum channel_kind channel = turns->asked;
    for (int i = CHANNEL_EMAIL; i < CHANNEL_COUNT; i++) {
        channel = channel + 1 < CHANNEL_COUNT ? channel + 1 : CHANNEL_EMAIL;
        if (now_ms < wanted_ms(turns, channel, now_ms))
            continue;
        turns->asked = channel;
        *ret_free = room(turns, channel, now_ms);
        return channel;
    }
    return CHANNEL_NONE;
}

int64_t turns_at_ms(const struct turns *turns, int64_t now_ms)
{
    int64_t at = INT64_MAX;
    for (enum channel_kind kind = CHANNEL_EMAIL; kind < CHANNEL_COUNT; kind++) {
        int64_t wanted = wanted_ms(turns, kind, now_ms);
        at = wanted < at ? wanted : at;
    }
    return at;
}

void turns_took(struct turns *turns, enum channel_kind channel, int64_t now_ms, int rows, bool full)
{
    struct turn *turn = &turns->channels[channel];
    int64_t slowest = turns->poll_ms * TURNS_IDLE_FACTOR;
    turn->more_due = full;
    turn->full_ms = now_ms;
    turn->idle_ms = rows > 0 || turn->idle_ms <= 0 ? turns->poll_ms
                    : turn->idle_ms * 2 < slowest  ? turn->idle_ms * 2
                                                   : slowest;
    if (rows == 0 && !turns->active[channel])
        turn->idle_ms = TURNS_INACTIVE_MS;
    turn->at_ms = full ? now_ms : now_ms + turn->idle_ms;
}

void turns_wait(struct turns *turns, enum channel_kind channel, int64_t at_ms)
{
    turns->channels[channel].at_ms = at_ms;
}

bool turns_gathers(const struct turns *turns, enum channel_kind channel, int64_t now_ms)
{
    const struct turn *turn = &turns->channels[channel];
    return turn->more_due && now_ms < turn->full_ms + turns->poll_ms;
}

void turns_again(struct turns *turns, enum channel_kind channel, int64_t now_ms)
{
    turns->channels[channel].at_ms = now_ms;
}
