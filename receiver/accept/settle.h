// settle.h: one delivery while a batch's receipts are judged: pure. It only moves forward: accepted
// < delivered or bounced < complained, and nothing undoes an end that was told to a person.
#pragma once
#include "receiver/receipt.h"

// Stored states of a delivery: the numbers of dispatcher/delivery.h, which the receiver does not
// include.
enum settle_state {
    SETTLE_DUE = 0,
    SETTLE_WIRE = 1,
    SETTLE_ACCEPTED = 2,
    SETTLE_REFUSED = 3,
    SETTLE_EXPIRED = 4,
    SETTLE_DEAD = 8,
    SETTLE_UNKNOWN = 9,
    SETTLE_DELIVERED = 10,
    SETTLE_BOUNCED = 11,
    SETTLE_COMPLAINED = 12,
};

struct settle {
    struct delivery_place place;
    enum channel_kind channel;
    bool there;
    // As it was locked:
    int state0, tries, order, type; // type: of the message
    char *address, *provider_id;    // owned; provider_id of the last try that was told of, or NULL
    char *driver;  // owned: of the last try's provider; NULL = not known, or one whose receipts may
                   // be of any
    char **failed; // owned: ids of which a receipt said before that they failed
    size_t n_failed;
    int64_t now_us, expires_us, retry_until_us; // database clock; 0 = never, no retry
    // As it is now:
    int state;
    bool asks;  // due: its provider is to be asked what became of the last try, nothing is sent
    bool doubt; // a try that others follow, or will, has an unknown outcome
    bool changed;
    bool again; // due again in wait_ms
    int64_t wait_ms;
    char id[128]; // the provider's id of the try that the last move is of, "" = not said
    char reason[320];
};

void settle_fini(struct settle *settle);

// A receipt said that the try with this id (copied) failed.
void settle_failed(struct settle *settle, const char *id);

// Stored numbers.
enum settle_outcome {
    SETTLE_MOVED = 1,
    SETTLE_SAME = 2,    // said before, or overtaken by a later word on the same try
    SETTLE_STALE = 3,   // of an earlier try, or against an end that stands
    SETTLE_NOTED = 4,   // says nothing of the delivery itself
    SETTLE_NOWHERE = 5, // of no delivery that is known
};
const char *settle_outcome_name(enum settle_outcome outcome);

// message may be NULL (its policy is not known any more). random chooses within the jitter.
enum settle_outcome settle_judge(struct settle *settle, const struct receipt *receipt,
        const struct message *message, uint32_t random);
