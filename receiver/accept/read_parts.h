// read_parts.h: what the files of the reading step share; nobody else includes it.
#pragma once
#include "receiver/accept/read.h"

#include "common/json/scan.h"

// One body, or one member of a batch, under way to its event.
struct reading {
    const struct arrival *arrival;
    const struct policy *policy;
    const struct source *source; // NULL: not in this policy
    const struct read_pointers *pointers;
    struct slice body; // JSON
    bool member;       // of a batch, whose scope was read before: one of these is set
    const char *scope, *no_scope;
    size_t place;       // in the batch
    struct slice array; // the name of its array there
};

// Which event it is: id, scope, type, time. The fingerprint is there already. What can be read is
// filled even when something else can't; the reason is that of what comes first.
const char *read_identity(const struct reading *reading, struct event *event);

// The scope of a batch, from the whole body.
const char *read_batch_scope(
        const struct read_pointers *pointers, struct slice body, char **ret_scope);

// What it means by its rule.
const char *read_rule(struct slice body, const struct event_rule *rule, struct event *event);

static inline bool part_absent(const struct json_result *result)
{
    return result->found == JSON_MISSING || result->token.kind == JSON_KIND_NULL;
}

// The document's value at each pointer, in as many passes as json_find needs.
bool parts_find(
        struct slice body, const char *const *pointers, size_t n, struct json_result *results);

// A required value through `make`; none and bad are the reasons when there is none.
const char *part_required(const struct json_result *result, char *(*make)(struct json_token),
        const char *none, const char *bad, char **ret_value);

// A value as printable text of at most EVENT_ID_MAX bytes; NULL when it is none.
char *part_text(struct json_token token);
