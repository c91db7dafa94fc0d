// why.h: what a request that was refused would have matched: the receiver's own verifier, asked
// again with one thing changed.
#pragma once
#include "cli/verify/saved.h"
#include "common/config/policy.h"

enum { WHY_MAX = 32 }; // findings of one request

struct why_finding {
    char *says;             // "without the line end at the body's end"
    const char *source;     // whose secret, when not this source's; else NULL
    const char *credential; // which secret; NULL = none is concerned
};

// A secret of the source, tried as it is.
enum why_state { WHY_LIVE, WHY_EXPIRED, WHY_EARLY, WHY_EMPTY };
const char *why_state_name(enum why_state state);
struct why_secret {
    const struct secret *secret;
    enum why_state state;
    bool matches; // its signature, whatever the clock says
};

struct why {
    enum verify_reason reason; // of the request as it is
    int secret_index;
    bool has_time; // a signed time was found
    int64_t signed_s;
    int64_t past_s, future_s; // what the scheme allows
    const char *header;       // that carries the signature, NULL = not one
    struct why_secret *secrets;
    size_t n_secrets;
    struct why_finding findings[WHY_MAX];
    size_t n_findings;
};
void why_fini(struct why *why); // zeroed is fine
#define AUTO_WHY __attribute__((cleanup(why_fini)))

// request.now_s is the time to judge by. Borrows from all three. What has no row (certificates,
// keys to be fetched) is only asked as it is.
void why_ask(const struct policy *policy, const struct source *source,
        const struct verify_request *request, struct why *ret_why);
