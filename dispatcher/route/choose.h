// choose.h: which provider of its channel a delivery's next try goes to. Pure.
//
// The first in the policy's order, and the next one only when the one before refused this delivery
// for a reason of its own, or while its breaker is open. After a try of unknown outcome the
// provider stays the same: for certain while it recognises the repeat by its key, else as long as
// its breaker lets it; another one then makes a possible duplicate, and is counted as one.
#pragma once
#include "common/base.h"

enum { CHOOSE_MAX = 16 }; // providers of a channel that are looked at

struct candidate {
    bool suits;            // runs, and is for this kind of target
    int64_t open_ms;       // its breaker lets nothing through for so long; 0 = it does
    bool room;             // a try can start now: transfers and permits are free
    int64_t key_window_us; // how long it recognises a repeated key; 0 = it has none
};

// What is known of the tries so far.
struct history {
    int last;            // index of the provider of the last try; -1 = none, or it is gone
    bool passed_on;      // it refused the delivery for a reason of its own
    bool unknown;        // a try of unknown outcome is among them
    int64_t in_doubt_us; // since the first of those that the last provider may know
};

struct choice {
    int at;          // -1 = none now
    bool stays_open; // -1 because of breakers, not for want of room
    int64_t wait_ms; // at -1: when to look again; 0 = as soon as there is room
};

struct choice choose(const struct candidate *candidates, size_t n, const struct history *history);

// Is there one further down the list that could take what the provider at `refused` did not?
bool choose_other(const struct candidate *candidates, size_t n, const struct history *history);
