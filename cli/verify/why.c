#include "cli/verify/why.h"

#include "cli/verify/ask.h"
#include "receiver/verify/claim.h"

#include <stdarg.h>
#include <stdio.h>

enum { SAYS_MAX = 300 };

void why_fini(struct why *why)
{
    for (size_t i = 0; i < why->n_findings; i++)
        free(why->findings[i].says);
    free(why->secrets);
    *why = (struct why){.n_findings = 0};
}

const char *why_state_name(enum why_state state)
{
    static const char *const names[] = {[WHY_LIVE] = "live",
            [WHY_EXPIRED] = "ended",
            [WHY_EARLY] = "not yet",
            [WHY_EMPTY] = "not loaded"};
    return names[state];
}

// A secret stands for itself here, whatever its dates.
static void undate(struct secret *secrets, size_t n)
{
    for (size_t i = 0; i < n; i++)
        secrets[i].from = secrets[i].until = 0;
}

int ask(const struct scheme *row, const struct source *source, const struct verify_request *request)
{
    AUTO_FREE struct secret *secrets = xcalloc(source->n_secrets + 1, sizeof *secrets);
    memcpy(secrets, source->secrets, source->n_secrets * sizeof *secrets);
    undate(secrets, source->n_secrets);
    struct source undated = *source;
    undated.secrets = secrets;
    struct verify_result result =
            row ? engine_verify(row, &undated, request) : verify_request(&undated, request);
    return result.secret_index;
}

void ask_found(struct asking *asking, const char *other_source, const char *credential,
        const char *fmt, ...)
{
    struct why *why = asking->why;
    if (why->n_findings == WHY_MAX)
        return;
    char says[SAYS_MAX];
    va_list args;
    va_start(args, fmt);
    vsnprintf(says, sizeof says, fmt, args);
    va_end(args);
    why->findings[why->n_findings++] = (struct why_finding){
            .says = xstrdup(says), .source = other_source, .credential = credential};
}

static enum why_state state_of(const struct secret *secret, int64_t now_s)
{
    if (secret->value.len == 0)
        return WHY_EMPTY;
    if (secret_is_live(secret, now_s))
        return WHY_LIVE;
    return secret->from && now_s < secret->from ? WHY_EARLY : WHY_EXPIRED;
}

// One secret of the source at a time.
static void try_each(struct asking *asking)
{
    const struct source *source = asking->source;
    struct why *why = asking->why;
    why->secrets = xcalloc(source->n_secrets + 1, sizeof *why->secrets);
    why->n_secrets = source->n_secrets;
    for (size_t i = 0; i < source->n_secrets; i++) {
        struct source alone = *source;
        alone.secrets = &source->secrets[i];
        alone.n_secrets = 1;
        why->secrets[i] = (struct why_secret){.secret = &source->secrets[i],
                .state = state_of(&source->secrets[i], asking->request->now_s),
                .matches = ask(NULL, &alone, asking->request) == 0};
    }
}

// The engine's own row, or NULL where code decides.
static const struct scheme *engine_row(
        const struct source *source, const struct verify_request *request, struct scheme *made)
{
    const struct scheme *row = scheme_row_of(source, made);
    return row && row->kind == SCHEME_HMAC ? scheme_spoken(row, request) : NULL;
}

static void read_time(struct asking *asking, const struct scheme *row)
{
    AUTO_CLAIM struct claim claim = {.n_signatures = 0};
    struct why *why = asking->why;
    enum verify_reason reason = claim_read(row, asking->source, asking->request, &claim);
    why->header = row->header;
    why->past_s = row->time.past_s;
    why->future_s = row->time.future_s;
    why->has_time = reason == VERIFY_OK && row->time.from != TIME_NONE;
    why->signed_s = claim.at_s;
}

void why_ask(const struct policy *policy, const struct source *source,
        const struct verify_request *request, struct why *ret_why)
{
    *ret_why = (struct why){.n_findings = 0};
    struct verify_result result = verify_request(source, request);
    ret_why->reason = result.reason;
    ret_why->secret_index = result.secret_index;
    struct asking asking = {policy, source, request, ret_why};
    struct scheme made;
    const struct scheme *row = scheme_row_of(source, &made);
    if (!row || row->kind == SCHEME_CODE)
        return;
    const struct scheme *engine = engine_row(source, request, &made);
    if (engine)
        read_time(&asking, engine);
    try_each(&asking);
    if (result.secret_index >= 0 || result.reason == VERIFY_OK)
        return;
    for (size_t i = 0; i < ret_why->n_secrets; i++) {
        if (ret_why->secrets[i].matches)
            return; // its dates are why
    }
    ask_bodies(&asking);
    ask_urls(&asking);
    ask_secrets(&asking);
    ask_rows(&asking);
}
