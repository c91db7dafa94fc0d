// decide.h: what a provider's answer means for a delivery that it was asked about. Pure.
//
// "Not found" counts only after the settling delay, since a search may lag behind. Then what would
// have been tried again is sent again; what is unknown for good stays so, whatever is not found.
// How long tries may last is no matter here: what was taken is found when they are over, too.
#pragma once
#include "dispatcher/delivery.h"

enum {
    LOOK_LEAST_MS = 100,
    LOOK_MOST_MS = 5 * 60 * 1000,      // between two look-ups
    LOOK_PATIENCE_MS = 60 * 60 * 1000, // a provider that does not answer is asked so long
    LOOK_FIRST_MOST_MS = 30 * 1000,    // the first look-up
    LOOK_FIRST_PART = 10,              // .. after this part of the settling delay
};

struct looked {
    enum attempt_outcome outcome; // FOUND, NOT_FOUND or UNANSWERED
    bool askable;                 // its provider can still be asked
    enum delivery_state state;    // DUE: to be tried again; UNKNOWN: for good
    int64_t asked_us;             // the question left then, however late its answer came
    int64_t settles_us;           // what is "not found" counts when it was asked from here on
    int64_t settle_ms;            // the whole delay
};

struct look_decision {
    enum delivery_state state;
    bool again; // look again after wait_ms; else, when due, it is sent again now
    int64_t wait_ms;
    const char *reason; // of one that stays unknown; NULL = the one it has
};

struct look_decision look_decide(const struct looked *looked, int64_t now_us);
int64_t look_first_ms(int64_t settle_ms);
