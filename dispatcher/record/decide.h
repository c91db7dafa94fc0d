// decide.h: what a try's outcome means for its delivery: the next state, and when it is due again.
//
// Pure: no clock, no randomness of its own, no database.
#pragma once
#include "dispatcher/delivery.h"

enum {
    // A provider that is down says nothing about the message: its failures wait no longer than
    // this, however high the step number is.
    DECIDE_PROVIDER_WAIT_MAX_MS = 5 * 60 * 1000,
    DECIDE_WAIT_DEFAULT_MS = 60 * 1000, // a message without a ladder
    // So long before a provider forgets a key the last try with it begins.
    DECIDE_KEY_MARGIN_MS = 10 * 60 * 1000,
    DECIDE_LOOK_PART = 10, // the first look-up: this part of the settling delay, ..
    DECIDE_LOOK_LEAST_MS = 100,
    DECIDE_LOOK_MOST_MS = 30 * 1000, // .. within these
};

struct decision {
    enum delivery_state state;
    bool again; // due again after wait_ms
    int64_t wait_ms;
    bool unknown_spent; // this try stays unknown and another follows: the next may be a duplicate
    bool free;          // it says nothing about the message: the ladder's rung stays
    bool passed_on;     // the provider refused it for a reason of its own: another may take it
    bool look;          // its provider is asked after wait_ms; no try comes before
    int64_t settle_ms;  // .. and "not found" counts from then on
    const char *reason; // static text for the delivery; NULL = none
    enum suppression suppress; // its address gets nothing from now on
};

// random is any 32-bit number: it chooses within the jitter. message may be NULL (its version is no
// longer known): then one step of DECIDE_WAIT_DEFAULT_MS. now_us is the database's clock.
struct decision decide(const struct delivery *delivery, const struct message *message,
        int64_t now_us, uint32_t random);

// The wait before the next try: the ladder's rung of this step (the last one repeats), spread by
// the jitter, never below what the peer asked for (retry_after).
int64_t decide_wait_ms(
        const struct delivery *delivery, const struct message *message, uint32_t random);

// When a repeat would no longer be recognised, database microseconds; 0 = that is no matter: there
// is no doubt, or its provider recognises none at all.
int64_t decide_repeat_end_us(const struct delivery *delivery, int64_t now_us);

// When retries end, in database microseconds; 0 = the message has none.
int64_t decide_retry_end_us(const struct delivery *delivery, const struct message *message);
