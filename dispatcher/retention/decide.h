// decide.h: which key generation begins or settles when, and which slot of a ring may be emptied.
//
// Pure: everything is told in seconds of the database's clock. The statements beside it ask the
// same again under their locks, so what is decided here on figures that have aged empties nothing.
#pragma once
#include "common/base.h"

enum {
    KEY_SLOTS = 4,
    RING_SLOTS = 16,
    OVERLAP_MIN_S = 600, // at most; a 64th of the window when that is shorter
    SLOT_OVER_S = 60,    // a slot's turn is over so much later: stored times are rounded
    SLOT_AHEAD_S = 3600, // and it is left alone for so long before its next turn
};

// --- Keys. Slots in use: normal phase of g: g and g-1; while g overlaps g-1: g, g-1 and g-2.
// A transaction that began in the overlap of g-1 (and uses g-3) has ended before the overlap of g
// does. So the slot of g-3, which g+1 will take, is spare from the end of g's overlap on.
static inline int key_spare_slot(int64_t gen)
{
    return (int)((gen + 1) % KEY_SLOTS);
}

struct generation {
    int64_t gen;   // the highest
    bool overlap;  // with the one before
    int64_t age_s; // since it began; since its overlap ended, when that is over
    bool spare_empty;
};

enum key_step {
    KEY_REST,   // nothing to do
    KEY_EMPTY,  // the spare slot has keys of g-3
    KEY_FLIP,   // begin generation g+1
    KEY_SETTLE, // end the overlap, as soon as no transaction from before the flip is left
};
enum key_step key_step(const struct generation *generation, int64_t keep_s);
int64_t key_overlap_min_s(int64_t keep_s);

// --- Rings. Slot = time / slot_s % 16.
struct ring {
    const char *name;
    int64_t slot_s;
};

// How long ago the slot's last turn ended; negative = it is in use (until in so many seconds).
int64_t slot_over_for_s(const struct ring *ring, int slot, int64_t now_s);

// Nothing in it is to be kept any longer, and it is not about to be used again.
bool slot_may_be_emptied(const struct ring *ring, int slot, int64_t now_s, int64_t keep_s);
