#include "cli/verify/verify.h"

#include "cli/out.h"
#include "cli/policy/active.h"
#include "common/clock.h"
#include "receiver/http/coded.h"
#include "receiver/verify/handshake.h"

#include <stdio.h>

#define OUTPUT_MAX (1 << 20)
#define READ_STEP 65536

static bool read_stdin(struct text *input, struct err *err)
{
    static char part[READ_STEP];
    size_t n;
    text_init(input, SAVED_MAX);
    while ((n = fread(part, 1, sizeof part, stdin)) > 0) {
        if (!text_add(input, (struct slice){(unsigned char *)part, n}))
            return err_set(err, ERR_INPUT, "the request is longer than %d MiB", SAVED_MAX >> 20);
    }
    return input->len > 0 || err_set(err, ERR_INPUT, "there is no request on stdin");
}

static bool names_source(const struct call *call, const struct saved *saved, struct err *err)
{
    return call_has(call, FLAG_SOURCE) || *saved->source ||
           err_set(err, ERR_INPUT, "which source? name it by --source");
}

static bool find_source(const struct call *call, const struct saved *saved,
        const struct policy *policy, const struct source **ret_source, struct err *err)
{
    const char *given = call->values[FLAG_SOURCE], *name = given ? given : saved->source;
    *ret_source = policy_source(policy, slice_of(name));
    return *ret_source || err_set(err, ERR_NOTFOUND, "the policy has no source '%.60s'", name);
}

// 0 = not said.
static bool read_at(const struct call *call, int64_t *ret_at_s, struct err *err)
{
    const char *at = call->values[FLAG_AT];
    *ret_at_s = 0;
    return !at || saved_time(slice_of(at), ret_at_s) ||
           err_set(err, ERR_INPUT, "--at: '%.40s' is neither RFC 3339 in UTC nor unix seconds", at);
}

// The bytes that are signed where a coding was undone before. Why not, or NULL.
static const char *undo_coding(const struct source *source, struct saved *saved, struct text *hold)
{
    struct received_header headers[SAVED_HEADERS_MAX];
    struct verify_request *request = &saved->request;
    for (size_t i = 0; i < request->n_headers; i++)
        headers[i] = (struct received_header){request->headers[i].name, request->headers[i].value};
    struct received received = {.headers = headers,
            .n_headers = request->n_headers,
            .body = request->body,
            .body_max = SAVED_MAX};
    const struct scheme *scheme = scheme_of(source);
    if (!scheme || !coded_is(&received) || !scheme_signs_inflated(scheme, source))
        return NULL;
    return coded_open(source, &received, hold, &request->body);
}

static int tell(const struct call *call, const struct verify_told *told)
{
    AUTO_TEXT struct text out = {0};
    text_init(&out, OUTPUT_MAX);
    if (call_has(call, FLAG_JSON))
        verify_json(told, &out);
    else
        verify_text(told, &out);
    return out_data(&out, verify_is_good(told) ? EXIT_DONE : EXIT_NEGATIVE);
}

static int ask_and_tell(const struct call *call, const struct policy *policy,
        const struct source *source, struct saved *saved)
{
    AUTO_WHY struct why why = {.n_findings = 0};
    AUTO_GREETING struct greeting greeting = {.kind = GREETING_NONE};
    AUTO_TEXT struct text hold = {.max = 0};
    const char *coded = undo_coding(source, saved, &hold);
    handshake_answer(source, &saved->request, &greeting);
    why_ask(policy, source, &saved->request, &why);
    struct verify_told told = {.source = source,
            .saved = saved,
            .why = &why,
            .handshake = greeting.kind == GREETING_ANSWERED ? greeting.name : NULL,
            .coded = coded};
    return tell(call, &told);
}

// Secrets of other sources may be missing: what is not there is said of each secret.
static bool load_secrets(const struct call *call, const struct context *context,
        struct policy *policy, struct err *err)
{
    struct diag diag = {0};
    const char *dir = credentials_dir(context);
    if (dir && !secrets_load(policy, dir, SECRETS_OF_SOURCES, &diag) &&
            call_has(call, FLAG_VERBOSE))
        context_findings(call, &diag, EXIT_DONE);
    diag_fini(&diag);
    return dir || err_set(err, ERR_FATAL,
                          "there is no credentials directory: name it as `credentials` in the "
                          "host file");
}

int verify_command(const struct call *call)
{
    AUTO_CONTEXT struct context context = {0};
    AUTO_TEXT struct text input = {0};
    AUTO_SAVED struct saved saved = {.hidden = 0};
    struct err err = {0};
    const struct source *source = NULL;
    int64_t at_s;
    if (!read_at(call, &at_s, &err))
        return out_usage(call, &err);
    int code = context_load(call, &context);
    if (code != EXIT_DONE)
        return code;
    AUTO_POLICY struct policy *policy = policy_active(call, &context, &err);
    if (!policy || !load_secrets(call, &context, policy, &err) || !read_stdin(&input, &err) ||
            !saved_read(text_slice(&input), &saved, &err))
        return out_fail(call, &err);
    if (!names_source(call, &saved, &err))
        return out_usage(call, &err);
    if (!find_source(call, &saved, policy, &source, &err))
        return out_fail(call, &err);
    saved.request.now_s = at_s ? at_s : saved.received_s ? saved.received_s : clock_now_s();
    return ask_and_tell(call, policy, source, &saved);
}
