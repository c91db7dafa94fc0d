// breaker.h: a provider's breaker: whether it is given messages, and when it is asked again. Pure.
//
// Errors of the provider's own open it: some in a row, or one that names a time (Retry-After). When
// its time is over one delivery is the trial, and the answer to it closes the breaker or opens it
// for longer. What says something of a message or an address only never opens it.
#pragma once
#include "dispatcher/delivery.h"

enum {
    BREAKER_STREAK = 3,             // failures in a row, no answer about a message between
    BREAKER_BASE_MS = 1000,         // the first wait is up to this, the next up to twice ..
    BREAKER_MAX_MS = 5 * 60 * 1000, // .. and so on up to this
    BREAKER_LEAST_MS = 100,         // no wait is shorter
    BREAKER_STEADY_MS = 60 * 1000,  // closed for so long, waits begin small again
    BREAKER_SPREAD_PERCENT = 10,    // of what a provider asked for, on top of it
};

enum breaker_state {
    BREAKER_CLOSED, // takes messages
    BREAKER_OPEN,   // takes none before open_until_ms, then one
    BREAKER_TRIAL,  // that one is on the wire
};

// Zeroed: closed.
struct breaker {
    enum breaker_state state;
    int streak;            // failures in a row while closed
    int opened;            // times in a row, for the length of the wait
    int64_t open_until_ms; // monotonic
    int64_t changed_ms;    // when it was closed or opened last
};

// What the end of a try says of its provider.
enum breaker_sign { SIGN_NONE, SIGN_WELL, SIGN_FAILING };
enum breaker_sign breaker_sign(const struct attempt_result *result);

// How many tries may start now, limit at most.
int breaker_room(const struct breaker *breaker, int64_t now_ms, int limit);
// In how many ms it lets something through; 0 = now; while a trial is out, BREAKER_BASE_MS.
int64_t breaker_wait_ms(const struct breaker *breaker, int64_t now_ms);

// A try will start. True: it is the trial, and breaker_ended() must be told so.
bool breaker_start(struct breaker *breaker, int64_t now_ms);

struct breaker_end {
    enum breaker_sign sign;
    bool trial;       // breaker_start() said so
    bool back;        // nobody was asked, or could answer: the next is the trial
    int64_t began_ms; // what began before the last change says nothing new
    int64_t retry_after_ms;
    uint32_t random; // chooses the wait: full jitter
};
// True when it was opened or closed by this.
bool breaker_ended(struct breaker *breaker, const struct breaker_end *end, int64_t now_ms);
