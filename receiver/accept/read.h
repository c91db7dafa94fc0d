// read.h: turns a verified arrival into its events, by a policy: pure, no clock, no database.
#pragma once
#include "receiver/arrival.h"

// Where the scheme says that things stand in the body: JSON pointers, NULL = nowhere; a form is
// read as a flat object. Borrowed.
struct read_pointers {
    const char *id, *id_more; // both there: the id is both, joined with ':'; the second may lack
    const char *type;
    const char *const *scope; // ends with NULL; may be NULL
    const char *time;         // the event's own, signed
    bool time_demanded;       // by the policy: without a readable time the event is parked
    bool app;                 // its sender is told; an id of its own only
    bool header_id;           // the id is the arrival's header_id
    bool header_type;         // the type is the arrival's header_type, then "." and the body's
    bool unsigned_id;         // the id is outside what is signed, which is the body
};

// Bytes of an event's contact or data; more = parked.
#define READ_FIELDS_MAX 65536

// Fills arrival->events (dropping what was read before, e.g. by an older policy). Whatever the body
// is, there is at least one event, and each has scope, id, fingerprint, contact and data set:
//  - parked_reason is NULL: rule says what it means, or is NULL for an unmapped type or value. `to`
//    is -1 and order_id NULL where nothing moves.
//  - else rule is NULL, `to` -1, order_id NULL, contact and data "{}". The reasons:
//    "no-source" (not in this policy), "unreadable" (not JSON, or beyond the limits of
//    common/json/scan.h), "duplicate-member" (a name on a mapped pointer stands twice), "no-id",
//    "bad-id", "bad-scope", "no-type", "bad-type" (bad: not a text, unprintable or too long),
//    "no-time", "bad-time" (where the policy demands one), "no-order", "bad-order", "no-value",
//    "bad-value" (of `by`), "no-sequence", "bad-sequence", "bad-field" (a contact or data value
//    that is no text, or too long).
// An event that is older than keep.keys by its own time, when it arrived, is late: like parked it
// means nothing, since a first copy of it would no longer be remembered.
// An event that has no id of its own, or whose scope is not sure, gets "arrival:" and the arrival's
// id: it never shares a key with another. Event ids are exact: 1 and "1" are two (json_id). Order
// ids are plain: one source may write a number where another writes a text, and both mean the same
// order.
void read_events(
        struct arrival *arrival, const struct policy *policy, const struct read_pointers *pointers);
