#include "dispatcher/lease.h"

#include "common/clock.h"

void leases_init(struct leases *leases, int64_t lease_ms)
{
    *leases = (struct leases){.lease_ms = lease_ms, .worker = key_random()};
}

void leases_fini(struct leases *leases)
{
    while (leases->first) {
        struct batch *batch = leases->first;
        leases->first = batch->next;
        free(batch);
    }
}

struct batch *leases_add(struct leases *leases, struct key id, int members, int64_t granted_ms)
{
    struct batch *batch = xcalloc(1, sizeof *batch);
    *batch = (struct batch){
            .id = id, .granted_ms = granted_ms, .left = members, .next = leases->first};
    leases->first = batch;
    return batch;
}

struct batch *leases_find(const struct leases *leases, struct key id)
{
    for (struct batch *batch = leases->first; batch; batch = batch->next)
        if (memcmp(&batch->id, &id, sizeof id) == 0)
            return batch;
    return NULL;
}

bool leases_member_done(struct leases *leases, struct batch *batch)
{
    if (--batch->left > 0)
        return false;
    struct batch **at = &leases->first;
    while (*at != batch)
        at = &(*at)->next;
    *at = batch->next;
    free(batch);
    return true;
}

void leases_clock_seen(struct leases *leases, int64_t database_us, int64_t asked_us)
{
    int64_t least = database_us - clock_mono_us(), most = database_us - asked_us;
    if (leases->clock_offset_us < least)
        leases->clock_offset_us = least;
    else if (leases->clock_offset_us > most)
        leases->clock_offset_us = most;
}

int64_t leases_now_us(const struct leases *leases)
{
    return clock_mono_us() + leases->clock_offset_us;
}

int64_t leases_left_ms(const struct leases *leases, const struct batch *batch, int64_t now_ms)
{
    return batch->lost ? 0 : batch->granted_ms + leases->lease_ms - now_ms;
}

int64_t leases_renew_at(const struct leases *leases)
{
    int64_t at = INT64_MAX;
    for (const struct batch *batch = leases->first; batch; batch = batch->next)
        if (!batch->lost && batch->granted_ms + leases->lease_ms / 3 < at)
            at = batch->granted_ms + leases->lease_ms / 3;
    return at;
}

int64_t lease_needed_ms(int64_t lease_ms, int64_t timeout_ms)
{
    return timeout_ms < lease_ms ? timeout_ms : lease_ms / 3;
}
