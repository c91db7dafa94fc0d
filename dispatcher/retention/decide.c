#include "dispatcher/retention/decide.h"

#define OVERLAP_PART 64

int64_t key_overlap_min_s(int64_t keep_s)
{
    int64_t part = keep_s / OVERLAP_PART;
    return part < OVERLAP_MIN_S ? part : OVERLAP_MIN_S;
}

enum key_step key_step(const struct generation *generation, int64_t keep_s)
{
    if (generation->overlap)
        return generation->age_s >= key_overlap_min_s(keep_s) ? KEY_SETTLE : KEY_REST;
    if (!generation->spare_empty)
        return KEY_EMPTY;
    return generation->age_s >= keep_s ? KEY_FLIP : KEY_REST;
}

// How many turns of one slot each ago it was this slot's turn: 0 = now, 15 = it is the next.
static int turns_ago(const struct ring *ring, int slot, int64_t now_s)
{
    int64_t ago = (now_s / ring->slot_s - slot) % RING_SLOTS;
    return (int)(ago < 0 ? ago + RING_SLOTS : ago);
}

int64_t slot_over_for_s(const struct ring *ring, int slot, int64_t now_s)
{
    int64_t turn = now_s / ring->slot_s - turns_ago(ring, slot, now_s);
    return now_s - (turn + 1) * ring->slot_s;
}

bool slot_may_be_emptied(const struct ring *ring, int slot, int64_t now_s, int64_t keep_s)
{
    int ago = turns_ago(ring, slot, now_s);
    if (ago == 0)
        return false;
    int64_t left_s = (now_s / ring->slot_s + 1) * ring->slot_s - now_s;
    if (ago == RING_SLOTS - 1 && left_s <= SLOT_AHEAD_S)
        return false;
    return slot_over_for_s(ring, slot, now_s) >= keep_s + SLOT_OVER_S;
}
