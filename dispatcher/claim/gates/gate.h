// gate.h: may a delivery that was taken from `due` go on the wire? The gates in their order, each a
// pure function on facts.
//
// A gate is a row of the table in gate.c. One that needs facts beyond those which every claim reads
// says so by `wants`; then a row in questions.c has the statement that brings them.
#pragma once
#include "dispatcher/delivery.h"

// In the order in which they are asked. Past the last one a delivery goes on the wire.
enum gate_kind {
    GATE_CANCELLED,
    GATE_SUPERSEDED, // by a newer message of its collapse id
    GATE_EXPIRED,
    GATE_PAUSED,
    GATE_SUPPRESSED,
    GATE_ADDRESS,
    GATE_STEP, // `unless` of its step
    GATE_QUIET,
    GATE_CAP, // the last one: who passes it has its slots
    GATE_COUNT,
};
const char *gate_name(enum gate_kind gate); // as the metric has it

enum {
    // How long after it became due a step waits for the other channel, whose last word is still to
    // come: a try that is under way, or one that is about to be.
    GATE_WIRE_GRACE_MS = 150 * 1000, // longer than a lease
    GATE_DUE_GRACE_MS = 30 * 1000,
    GATE_STEP_WAIT_MS = 2000, // between two looks
    GATE_NEWER_WAIT_MS = 100, // of a newer message for the end of an older one's try
};

// What became of the same notification on another channel.
struct other_channel {
    bool accepted, delivered, due, wire;
};

// What collapse.sql says of it.
struct newer_one {
    bool ended; // there is one: this delivery has its end already
    bool waits; // an older one is on the wire
};

// What cap_take.sql says of it: the caps that it does not get. All zero: it has its slots.
struct shut_cap {
    const struct cap_hold *withheld_by, *deferred_by; // one of those that are used up
    int64_t wait_ms;                                  // until it may ask again; 0 = not shut
};

enum gate_answer {
    GATE_OPEN,
    GATE_END,   // the delivery ends here
    GATE_LATER, // it is due again at until_us; spends no try
};

struct verdict {
    enum gate_answer answer;
    enum delivery_state end; // GATE_END
    int64_t until_us;        // GATE_LATER, database clock
    int hold;                // GATE_LATER: or when this pause ends (its id); 0 = none
    char reason[160];        // for people; "" when open
};

// What is known of one delivery. Borrowed pointers live as long as the claim's transaction.
struct gate_facts {
    int64_t now_us; // database clock
    enum delivery_state state;
    const struct message *message; // NULL: its policy version is not in memory
    enum suppression suppressed;
    // The pause that holds it; pause_id 0 = none
    int pause_id;
    int64_t pause_until_us;     // 0 = until it is resumed
    char pause_reason[152];     // a copy: pauses may be read anew before it is asked for
    struct other_channel other; // GATE_STEP
    const char *zone;           // the recipient's, one that the server knows
    int64_t quiet_until_us;     // GATE_QUIET, 0 = it is no quiet hour
    char quiet_wall[8];         // that moment's time of day there
    struct newer_one newer;     // GATE_SUPERSEDED
    struct shut_cap cap;        // GATE_CAP
    unsigned known;             // a bit for each gate (1u << kind) whose further facts are here
};

// Asks the gates from *at on, and stops before one whose facts are missing (then *ret_asks), at one
// that is closed, or past the last. *at is where it stands.
struct verdict gate_walk(const struct delivery *delivery, const struct gate_facts *facts,
        enum gate_kind *at, bool *ret_asks);

// Does this gate need facts of its own statement that are not here yet?
bool gate_asks(
        enum gate_kind gate, const struct delivery *delivery, const struct gate_facts *facts);

// Verdicts, for gates. One that ends a delivery with a try of unknown outcome behind it ends it as
// `unknown`, since nobody knows whether that arrived; the reason stays.
struct verdict verdict_end(
        const struct delivery *delivery, enum delivery_state end, const char *reason);
struct verdict verdict_later(int64_t until_us, const char *reason);
