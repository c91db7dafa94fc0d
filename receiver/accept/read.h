// read.h: turns a verified arrival into its events, by a policy: pure, no clock, no database.
#pragma once
#include "receiver/arrival.h"

// Where the scheme says that things stand in the body: JSON pointers, NULL = nowhere; a form is
// read as a flat object. Borrowed.
struct read_pointers {
    const char *id;
    const char *const *id_more; // further parts of the id; ends with NULL; may be NULL
    bool id_digest;             // its last part is the first 32 hex digits of the fingerprint; its
                                // only one where id is NULL
    bool id_each;               // and then ":" and the arrival's own id
    const char *type;
    const char *type_more;    // where it is there: "." and this behind the type; or NULL
    bool type_of_batch;       // the type is the name of the array that the member stands in
    const char *const *scope; // ends with NULL; may be NULL
    const char *time;         // the event's own, signed
    // Where the events of one request stand (receiver/verify/scheme.h says the form); ends with
    // NULL; NULL or empty = the body is one event. All pointers but the scope's, and those of the
    // policy, are then into the member.
    const char *const *batch;
    // A text of the body: where it is a JSON object or array, all pointers lead into it as if it
    // stood there unquoted; NULL = none.
    const char *inner;
    bool inner_xml; // it is base64 of XML, which is read as read_xml.h says
    // Members that the provider changes between tries, beside those of the policy's fingerprint;
    // ends with NULL; may be NULL.
    const char *const *volatiles;
    bool time_demanded; // by the policy: without a readable time the event is parked
    bool app;           // its sender is told; an id of its own only
    bool header_id;     // the id is the arrival's header_id; of a member with ":" and its place
    bool header_type;   // the type is the arrival's header_type, then "." and the body's
    bool unsigned_id;   // the id is outside what is signed, which is the body
    // Of a source of receipts: reads the event (its member) as one; NULL = it is none. Else yours.
    struct receipt *(*receipt)(const struct source *source, struct slice body, struct slice query);
};

enum {
    READ_FIELDS_MAX = 65536, // bytes of an event's contact or data; more = parked
    READ_MEMBERS_MAX = 1000, // events of one request; more = parked as a whole
    READ_ID_PARTS_MAX = 8,   // parts of an id, its digest aside
};

// Fills arrival->events (dropping what was read before, e.g. by an older policy). Whatever the body
// is, there is at least one event, unless it is a batch of none; and each has scope, id,
// fingerprint, contact and data set:
//  - parked_reason is NULL: rule says what it means, or is NULL for an unmapped type or value. `to`
//    is -1 and order_id NULL where nothing moves.
//  - else rule is NULL, `to` -1, order_id NULL, contact and data "{}". The reasons:
//    "no-source" (not in this policy), "unreadable" (not JSON, or beyond the limits of
//    common/json/scan.h), "duplicate-member" (a name on a mapped pointer stands twice), "no-id",
//    "bad-id", "bad-scope", "no-type", "bad-type" (bad: not a text, unprintable or too long),
//    "no-time", "bad-time" (where the policy demands one), "no-order", "bad-order", "no-value",
//    "bad-value" (of `by`), "no-sequence", "bad-sequence", "bad-field" (a contact or data value
//    that is no text, or too long).
// A batch is one event a member, in the order they stand in; one that can't be read is parked by
// itself. What is wrong with the batch parks it as one event: "no-batch" (there is no such array),
// "bad-batch" (it is something else), "batch-too-long", "unreadable", "duplicate-member". Arrays
// without a member make no event at all; where elements on the way had no such array, there is one
// unmapped event with the remark "no-members", so that what was acknowledged is kept.
// What arrival->marks calls refused is parked as "refused-by-database"; stripped, it has an id of
// ours, no type and no scope as well.
// The fingerprint is the sha256 of the member's own bytes, so that a repeat within another batch is
// the same event. What is signed is the whole body: where the id is not signed, the key of a member
// is made of those bytes and of its place.
// An event that is older than keep.keys by its own time, when it arrived, is late: like parked it
// means nothing, since a first copy of it would no longer be remembered.
// An event that has no id of its own, or whose scope is not sure, gets "arrival:" and the arrival's
// id (and ":" and the place of a member): it never shares a key with another. Event ids are exact:
// 1 and "1" are two (json_id). Parts of an id are joined with ':', which inside of a part is
// written %3A, and '%' is %25: no two lists of parts make one id. Scopes of more than one part are
// joined alike. A further part of an id that is absent is empty, which no part that is there can
// be; such an id ends with the fingerprint's digits too, so that it is shared by copies only. Order
// ids are plain: one source may write a number where another writes a text, and both mean the same
// order.
void read_events(
        struct arrival *arrival, const struct policy *policy, const struct read_pointers *pointers);
