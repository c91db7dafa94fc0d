// body.h: makes the body of an event as its provider would send it, from what the policy points at.
#pragma once
#include "common/config/policy.h"

struct body_wish {
    const struct policy *policy;
    const struct source *source;
    const struct event_rule *rule;
    const char *order, *event_id, *email;
    int64_t now_s;
    const char *const *sets; // "/pointer=value"
    size_t n_sets;
};

// Everything the rule names is there; `sets` come last. Where the scheme's requests hold many
// events it is a batch of this one, and all pointers are into it. ERR_INPUT for a set that can't be
// made.
MUST_CHECK bool body_build(const struct body_wish *wish, struct text *out, struct err *err);

// Is it "/pointer=value"?
MUST_CHECK bool body_set_ok(const char *set, struct err *err);
