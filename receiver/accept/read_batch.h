// read_batch.h: where the events of one request stand in its body. Pure.
#pragma once
#include "receiver/accept/read.h"

#include "common/json/scan.h"

// The members of a batch in the order they stand in, pattern by pattern; slices of the body, and of
// the patterns.
struct members {
    struct member {
        struct json_token token;
        struct slice array; // the name of the one it stands in, "" = the body
    } * rows;
    size_t n, room;
    struct slice array; // of the pattern that is being followed
    bool passed_over;   // an element on the way had no such array
};
void members_fini(struct members *members); // a zeroed one is fine
#define AUTO_MEMBERS __attribute__((cleanup(members_fini)))

// Adds the elements of every array that a pattern leads to (receiver/verify/scheme.h says its
// form). NULL, or the reason that parks the batch as a whole: "unreadable", "duplicate-member",
// "no-batch", "bad-batch", "batch-too-long". Time is linear in the body for each pattern and `*`;
// memory is bounded by READ_MEMBERS_MAX.
MUST_CHECK const char *read_members(
        struct slice body, const char *const *patterns, struct members *members);
