// receipt.h: what a provider's event says of a message that it took from us before.
//
// receiver/receipt reads it, receiver/accept judges it against the delivery; main joins them.
#pragma once
#include "common/config/policy.h"
#include "common/place.h"

// Stored numbers: never renumber.
enum receipt_kind {
    RECEIPT_NONE = 0,
    RECEIPT_ACCEPTED = 1, // taken, on its way
    RECEIPT_DELIVERED = 2,
    RECEIPT_TEMPORARY = 3, // given up, for a reason that may pass
    RECEIPT_REFUSED = 4,   // it never left the provider
    RECEIPT_BOUNCED = 5,   // it could not be delivered
    RECEIPT_COMPLAINED = 6,
    RECEIPT_UNSUBSCRIBED = 7, // the recipient wants no more of it: says nothing of this one
};
const char *receipt_kind_name(enum receipt_kind kind);

// Stored numbers, as in migrations/0007_gates.sql.
enum suppress_reason {
    SUPPRESS_NOT = 0,
    SUPPRESS_BOUNCE = 1,
    SUPPRESS_OPT_OUT = 3,
    SUPPRESS_COMPLAINT = 4,
};

struct receipt {
    enum receipt_kind kind;
    enum channel_kind channel;
    bool placed; // our key and the place came back, and agree
    struct delivery_place place;
    enum suppress_reason suppress; // why nothing more may go to the address; 0 = it may
    int64_t wait_s;                // of RECEIPT_TEMPORARY: not tried again before
    const char *provider;          // the driver whose receipts these are, never freed; NULL = any
    char id[128];                  // the provider's own id of the message, "" = none
    char said[320];                // "twilio undelivered 30003: ..", printable
};
