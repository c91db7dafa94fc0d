// delivery.h: what travels through the dispatcher: one delivery that was claimed, its content, and
// how a try ended.
#pragma once
#include "common/config/policy.h"
#include "common/keys.h"

// Where a delivery stands. Stored numbers: never renumber. Up to DELIVERY_WIRE it has no end yet.
enum delivery_state {
    DELIVERY_DUE = 0,
    DELIVERY_WIRE = 1, // claimed: bytes may be on the wire
    DELIVERY_ACCEPTED = 2,
    DELIVERY_REFUSED = 3,
    DELIVERY_EXPIRED = 4,
    DELIVERY_WITHHELD = 5,
    DELIVERY_SUPERSEDED = 6,
    DELIVERY_CANCELLED = 7,
    DELIVERY_DEAD = 8,
    DELIVERY_UNKNOWN = 9,
    DELIVERY_DELIVERED = 10,
    DELIVERY_BOUNCED = 11,
    DELIVERY_COMPLAINED = 12,
};
const char *delivery_state_name(enum delivery_state state);

// How one try ended. Stored numbers.
enum attempt_outcome {
    ATTEMPT_ACCEPTED = 1,
    ATTEMPT_REFUSED = 2,
    ATTEMPT_RETRY = 3,      // surely not taken, may be tried again
    ATTEMPT_UNKNOWN = 4,    // bytes may have been taken, no definite answer
    ATTEMPT_GIVEN_BACK = 5, // claimed but never started (SIGTERM); spends no try
    // No tries: what was learned afterwards about the try of that step.
    ATTEMPT_NOT_FOUND = 6,      // its provider was asked, and does not know of it
    ATTEMPT_FOUND = 7,          // its provider was asked, and has taken it
    ATTEMPT_UNANSWERED = 8,     // its provider was asked, and did not say
    ATTEMPT_SAID_SENT = 9,      // a person says that it was sent
    ATTEMPT_SAID_NOT_SENT = 10, // a person says that it was not
};
const char *attempt_outcome_name(enum attempt_outcome outcome);

// What a failure says about: only LEVEL_MESSAGE spends tries for good.
enum failure_level { LEVEL_MESSAGE = 0, LEVEL_ADDRESS = 1, LEVEL_PROVIDER = 2 };

// Stored numbers: why an address gets nothing.
enum suppression {
    SUPPRESSED_NOT = 0,
    SUPPRESSED_HARD_BOUNCE = 1,
    SUPPRESSED_UNREGISTERED = 2,
    SUPPRESSED_OPT_OUT = 3,
    SUPPRESSED_COMPLAINT = 4,
    SUPPRESSED_MANUAL = 5,
};
const char *suppression_name(enum suppression suppression); // "hard_bounce"

// A file that goes with a mail: which one, and what it was when the content was rendered. Its bytes
// are never stored: each try reads them anew and sends them only if they are still the same.
struct attachment {
    char *path; // below the folder of the host file; its last name is what the recipient sees
    size_t size;
    unsigned char sha256[32];
};

// Rendered once, stored, sent again as it is on every try. Owned strings; text and/or html.
struct content {
    char *from, *to, *subject, *text, *html;
    char *message_id;  // without angle brackets, derived from the delivery's key
    char *date;        // RFC 5322, of the first claim
    char *data;        // push: JSON object for the app, NULL = none
    char *unsubscribe; // link of one-click unsubscribe, or NULL
    char *collapse;    // a newer message with the same one takes its place; NULL = none
    struct attachment *attachments; // of a mail, in the policy's order
    size_t n_attachments;
    // Of the delivery, set before each build; not stored with the rest.
    int64_t expires_s; // unix seconds, 0 = never
    int64_t left_s;    // until then, when this try begins; 0 = no limit
    int64_t now_us;    // this try's beginning by the database's clock, 0 = not known
    enum priority priority;
    const char *place; // where its row stands (common/place.h), for receipts; borrowed; may be NULL
    // What a provider is to recognise a repeat by: the key, but of a message after one that failed
    // one of its own, or the answer would be that one's. Borrowed; NULL = the key.
    const char *repeat_key;
};
#define CONTENT_HASH 65 // with NUL
const char *content_hash_hex(const unsigned char sha256[32], char out[CONTENT_HASH]);
void content_fini(struct content *content);
MUST_CHECK bool content_to_json(const struct content *content, struct text *out);
MUST_CHECK bool content_from_json(struct slice json, struct content *ret_content, struct err *err);

struct attempt_result {
    enum attempt_outcome outcome;
    enum failure_level level;
    int code;               // SMTP reply or HTTP status, 0 = none
    char enhanced[16];      // "5.1.1", "" when none
    char detail[200];       // what the peer said, printable, cut
    char provider_id[128];  // the provider's own id of the message, "" when none
    int64_t retry_after_ms; // 0 = not said
    int64_t dead_since_ms;  // unix time at which the push service last found the token dead, 0 =
                            // not said: one that was registered after it is alive
    bool too_late;          // GIVEN_BACK: a repeat would no longer be recognised
    bool spoilt;            // REFUSED: an attachment is not what was rendered; detail names it
    bool other_bytes;       // REFUSED, perhaps only because its key came with other bytes before
    bool stale_token;       // our own bearer token was refused as too old: make a new one
    int64_t wire_ms;        // time on the wire
    bool other;             // LEVEL_PROVIDER: another provider of the channel takes messages now
    bool apart; // LEVEL_PROVIDER: it takes none for the likes of this recipient, others are well
};

// Which shared token a try went out with (dispatcher/token): none where generation is 0.
struct bearer_use {
    struct key identity;
    int64_t generation;
};

// A shared token for one try, as transport_start() puts it into the request; borrowed.
struct bearer {
    struct slice token;
    struct bearer_use use;
};

// One cap that a delivery counts against.
struct cap_hold {
    int bucket;
    char *name; // the rule and whom it counts for; owned
    int most;
    int64_t in_ms;
    bool withhold; // else deferred
};

// One claimed delivery.
struct delivery {
    int bucket;
    struct key notification;
    enum channel_kind channel;
    char *target;
    int redrive;
    int tries;  // step number of this try: 1, 2, ..
    int type;   // message id
    int policy; // version the notification remembers
    enum delivery_order order;
    enum priority priority;
    char *address; // frozen when the notification was made
    char *once;
    char *zone;                 // the recipient's time zone as it was given, or NULL
    char *order_id, *recipient; // NULL = none; recipient is the contact's own id
    char *collapse;             // a newer message with the same one takes its place; NULL = none
    char *failed_id; // the provider's id of the message before, which a receipt said failed, or
                     // NULL
    struct cap_hold *caps; // filled by caps_of()
    size_t n_caps;
    int64_t due_us, created_us, expires_us; // database clock; expires 0 = never
    int64_t retry_until_us;                 // from created, by the message's retry.for
    int earlier_unknown;   // tries of it that ended unknown: the next is a possible duplicate
    int64_t doubt_us;      // when the first of them that its provider may know by its key can have
                           // begun, database clock; 0 = none
    int64_t in_doubt_us;   // how long ago that was when it was claimed
    int64_t settle_ms;     // its provider can be asked, and its search may lag so; 0 = it can't
    int64_t key_window_ms; // its provider recognises a repeated key for so long; 0 = it does not
    char *data;            // the notification's frozen values, JSON; borrowed only while claiming
    struct content content;
    char *provider;     // name of the one that this try is for; while it is claimed, of the one
                        // before; NULL = none
    bool passed_on;     // that one refused it for a reason of its own
    int free_tries;     // steps before this one that said nothing about the message
    bool first;         // its first try at that one
    bool routed, trial; // dispatcher/route counts it; it is the one that its breaker waits for
    struct key claim;   // the fence
    struct attempt_result result;
    struct bearer_use bearer; // of this try
    int64_t hold_until_ms;    // waits for a shared token until then, 0 = does not
    int64_t stocked_ms;       // monotonic: waits for a free transfer since then
    int64_t started_ms;       // monotonic, 0 = not started
    bool probe;               // no delivery at all: connect and sign in only, nothing is sent
    struct delivery *next;
};
void delivery_free(struct delivery *delivery);
