// suppress.h: which refusals say that an address is dead, and whether to believe them. Pure.
//
// Only a definite answer of the provider about the address counts, and only a code that means this
// address and for good (docs/gates.md has the table). When very many die at once at one provider it
// is the provider, or our own configuration, and nothing is suppressed.
#pragma once
#include "dispatcher/delivery.h"

enum suppression suppression_of(const struct delivery *delivery);

enum {
    GUARD_SLOTS = 10,
    GUARD_SLOT_MS = 60 * 1000, // so the last ten minutes count
    GUARD_DEAD_MIN = 50,       // so many may die in that time, ..
    GUARD_DEAD_PERCENT = 20,   // .. or so many of the results, whichever is more
};

struct guard;
struct guard *guard_new(void);
void guard_free(struct guard *guard); // NULL is fine

// A result of this provider (NULL = not known), at now_ms (clock_mono_ms).
void guard_note(struct guard *guard, const char *provider, bool dead, int64_t now_ms);
// What the recorder does with these: a result that came in; what to do with its address. The second
// one logs and counts what is not believed.
void suppress_note(struct guard *guard, const struct delivery *delivery, int64_t now_ms);
enum suppression suppress_decide(
        struct guard *guard, const struct delivery *delivery, int64_t now_ms);

// Are its dead addresses believed now? *ret_changed: otherwise than when it was asked last.
bool guard_allows(struct guard *guard, const char *provider, int64_t now_ms, bool *ret_changed);
