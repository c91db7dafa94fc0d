#include "dispatcher/turns.h"

void turns_init(struct turns *turns, int transfers, int64_t poll_ms, const int *used)
{
    *turns = (struct turns){.transfers = transfers > 0 ? transfers : 1,
            .poll_ms = poll_ms,
            .used = used,
            .active = {[CHANNEL_EMAIL] = true}};
}

void turns_policy(struct turns *turns, const struct policy *policy)
{
    for (int kind = CHANNEL_EMAIL; kind < CHANNEL_COUNT; kind++)
        turns->active[kind] = policy->channels[kind].active;
    turns_now(turns);
}

void turns_now(struct turns *turns)
{
    for (int kind = CHANNEL_EMAIL; kind < CHANNEL_COUNT; kind++)
        turns->channels[kind] = (struct turn){.idle_ms = turns->poll_ms};
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

// When this channel's next claim is worth its while; INT64_MAX while none of its slots is free.
static int64_t wanted_ms(const struct turns *turns, enum channel_kind channel)
{
    const struct turn *turn = &turns->channels[channel];
    int free = turns_free(turns, channel), most = free + turns->used[channel];
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
        if (now_ms < wanted_ms(turns, channel))
            continue;
        turns->asked = channel;
        *ret_free = turns_free(turns, channel);
        return channel;
    }
    return CHANNEL_NONE;
}

int64_t turns_at_ms(const struct turns *turns)
{
    int64_t at = INT64_MAX;
    for (enum channel_kind kind = CHANNEL_EMAIL; kind < CHANNEL_COUNT; kind++)
        at = wanted_ms(turns, kind) < at ? wanted_ms(turns, kind) : at;
    return at;
}

void turns_took(struct turns *turns, int64_t now_ms, int rows, bool full)
{
    struct turn *turn = &turns->channels[turns->asked];
    int64_t slowest = turns->poll_ms * TURNS_IDLE_FACTOR;
    turn->more_due = full;
    turn->full_ms = now_ms;
    turn->idle_ms = rows > 0 || turn->idle_ms <= 0 ? turns->poll_ms
                    : turn->idle_ms * 2 < slowest  ? turn->idle_ms * 2
                                                   : slowest;
    if (rows == 0 && !turns->active[turns->asked])
        turn->idle_ms = TURNS_INACTIVE_MS;
    turn->at_ms = full ? now_ms : now_ms + turn->idle_ms;
}

void turns_wait(struct turns *turns, int64_t at_ms)
{
    turns->channels[turns->asked].at_ms = at_ms;
}

bool turns_gathers(const struct turns *turns, int64_t now_ms)
{
    const struct turn *turn = &turns->channels[turns->asked];
    return turn->more_due && now_ms < turn->full_ms + turns->poll_ms;
}

void turns_again(struct turns *turns, int64_t now_ms)
{
    turns->channels[turns->asked].at_ms = now_ms;
}
