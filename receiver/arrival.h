// arrival.h: what travels through the receiver: one HTTP request as received, and the events in it.
#pragma once
#include "common/config/policy.h"
#include "common/keys.h"
#include "receiver/receipt.h"

// What became of an event. Stored numbers: never renumber.
enum event_outcome {
    EVENT_NONE = 0,
    EVENT_ACCEPTED = 1,
    EVENT_DUPLICATE = 2,
    EVENT_MISMATCH = 3,
    EVENT_REPLAY = 4,
    EVENT_LATE = 5,
    EVENT_PARKED = 6,
    EVENT_UNMAPPED = 7,
};
const char *event_outcome_name(enum event_outcome outcome);

// One event judged against one order. Stored numbers.
enum move_outcome {
    MOVE_NONE = 0,
    MOVE_APPLIED = 1,
    MOVE_ALREADY_DONE = 2,
    MOVE_STALE = 3,
    MOVE_EARLY = 4,
    MOVE_CONFLICT = 5,
    MOVE_UNKNOWN_ORDER = 6,
};
const char *move_outcome_name(enum move_outcome outcome);

#define EVENT_ID_MAX 255 // bytes of an id, scope or order id

// Remark of an event whose contact or data its order has no room for.
#define EVENT_NOT_KEPT "values-not-kept"

// One event. Texts are owned by it (NULL = absent).
struct event {
    char *scope, *id, *type;
    unsigned char fingerprint[32];
    bool unsigned_id; // its id is outside what is signed: the signed bytes are a key of their own
    unsigned char signed_digest[32]; // of those bytes, then; without what changes between tries
    bool late;                       // by its own signed time: means nothing any more
    const struct event_rule *rule;   // of the policy the arrival was read with; NULL = unmapped
    const char *parked_reason;       // static text; NULL = not parked. "no-id", "no-order",
                                     // "duplicate-member", ..
    const char *remark;              // static text, stored beside an outcome that is not parked
    char *order_id;                  // NULL for notify-only and unmapped events; of an app's repeat
                                     // the one that its first was read with
    int to;                          // index into flow.states, -1 = none
    bool has_sequence;
    int64_t sequence;
    char *contact, *data;    // JSON objects as text, "{}" when empty
    struct receipt *receipt; // owned; NULL = it is none
    // results of the accept transaction
    enum event_outcome outcome;
    enum move_outcome move; // of the first judgement; for an app source's duplicate: the stored one
    int64_t age_us;         // of a repeat: since the first copy
};

// What the database has to do with one event of a request that it refused as a whole
// (accept/sift.h).
enum event_mark {
    EVENT_TAKEN = 0,
    EVENT_LEFT_OUT, // of a try that is taken back
    EVENT_REFUSED,  // parked, with its own id and type
    EVENT_STRIPPED, // parked, with an id of ours and nothing of its own
};

// The answer an arrival gets; receiver/http turns it into a status (design.md §7).
enum answer {
    ANSWER_NONE,
    ANSWER_OK,          // 200, constant body (provider sources)
    ANSWER_OUTCOME,     // 200 with the outcome in the body (app sources)
    ANSWER_REPLAYED,    // 200, the stored outcome, Idempotency-Replayed: true
    ANSWER_MISMATCH,    // 422 (app)
    ANSWER_UNREADABLE,  // 422 (app)
    ANSWER_IN_FLIGHT,   // 409 (app)
    ANSWER_UNAVAILABLE, // 503 + Retry-After
};

// One HTTP request. One allocation with its body copied in; freed with arrival_free().
struct arrival {
    struct key id;            // made before the first try
    char source[64];          // name; looked up in the policy of the moment
    struct slice body;        // raw bytes, owned
    struct slice header_id;   // the event's id where a header has it, owned; else empty
    struct slice header_type; // and its type
    bool form;                // the body is application/x-www-form-urlencoded
    bool has_once;            // where the id is not signed and what is signed is not the body:
    unsigned char once[32];   // the sha256 of what must come only once
    bool unsubscribes; // no webhook at all: the recipient of the delivery there wants no more
    struct delivery_place place; // of that
    char *query;            // of a source of receipts: the URL's part behind '?', owned; or NULL
    char *headers;          // kept header lines "Name: value\n", secrets redacted; may be NULL
    int64_t received_us;    // wall clock
    int64_t deadline_ms;    // monotonic: past it the answer is 503
    char *secret;           // name of the live secret that matched, owned; NULL = none
    int lane;               // the HTTP loop it came in by and goes back to
    struct event *events;   // made by accept's reading step; in a batch's own order
    size_t n_events;        // 0: a batch of none
    enum event_mark *marks; // of its events, in their order; owned; NULL = all are taken
    size_t n_marks;
    bool asks; // an app's that can't be read: it takes no key, it is told of the event it repeats
    enum answer answer;
    void *request;        // receiver/http's own; NULL when the client is gone
    struct arrival *next; // queue link
};

// What the scheme's headers say of the event is copied too; either may be empty.
struct arrival *arrival_new(
        struct slice source, struct slice body, struct slice header_id, struct slice header_type);
void event_clear_meaning(struct event *event);     // nothing moves, nothing is said
void arrival_drop_events(struct arrival *arrival); // before it is read again with another policy
void arrival_free(struct arrival *arrival);        // NULL is fine
