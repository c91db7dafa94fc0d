// ask.h: the changes that `pawl verify` tries, a file each: bodies, secrets, rows and URLs.
#pragma once
#include "cli/verify/why.h"
#include "receiver/verify/scheme.h"

struct asking {
    const struct policy *policy;
    const struct source *source;
    const struct verify_request *request;
    struct why *why;
};

// The request would match the source as it is changed here: whatever the clock and the dates of
// secrets say. Returns the index of the secret, -1 = no match. row NULL = the source's own.
int ask(const struct scheme *row, const struct source *source,
        const struct verify_request *request);

// Notes a finding; credential and other_source may be NULL.
void ask_found(struct asking *asking, const char *other_source, const char *credential,
        const char *fmt, ...) PRINTF_LIKE(4, 5);

void ask_bodies(struct asking *asking);
void ask_secrets(struct asking *asking);
void ask_rows(struct asking *asking);
void ask_urls(struct asking *asking);

// The same JSON written otherwise; false where nothing would change.
struct body_change {
    const char *says;
    bool (*make)(struct slice body, struct text *out);
};
extern const struct body_change body_changes[];
extern const size_t body_changes_count;
