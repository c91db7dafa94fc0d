#include "receiver/door.h"

#include "receiver/http/coded.h"
#include "receiver/verify/handshake.h"
#include "receiver/verify/verify.h"

#define HEADERS_MAX 128

static struct verdict verdict_of(struct verify_result result, bool app)
{
    enum verdict_kind kind = VERDICT_REFUSED;
    if (result.reason == VERIFY_OK)
        kind = VERDICT_OK;
    else if (result.reason == VERIFY_NO_SECRET || result.reason == VERIFY_NO_URL)
        kind = VERDICT_NO_SECRET;
    else if (result.reason == VERIFY_NO_ID)
        kind = VERDICT_NO_KEY;
    struct verdict verdict = {.kind = kind,
            .reason = verify_reason_name(result.reason),
            .secret_index = result.secret_index,
            .app = app,
            .id = result.id,
            .type = result.type,
            .has_once = result.has_once};
    memcpy(verdict.once, result.once, sizeof verdict.once);
    return verdict;
}

// What of a scheme's answer and refusal its provider insists on: no scheme has both.
static enum reply_style style_of(const struct scheme *scheme)
{
    static const enum reply_style styles[] = {[REPLY_DEFAULT] = STYLE_DEFAULT,
            [REPLY_EMPTY_200] = STYLE_EMPTY,
            [REPLY_NO_CONTENT_204] = STYLE_NO_CONTENT,
            [REPLY_ACCEPTED_BODY] = STYLE_ACCEPTED};
    if (!scheme)
        return STYLE_DEFAULT;
    if (scheme_refusal(scheme) == REFUSE_498)
        return STYLE_REFUSE_498;
    return styles[scheme_answer(scheme)];
}

// headers: room for HEADERS_MAX.
static struct verify_request request_of(
        const struct received *received, struct verify_header headers[])
{
    size_t n = received->n_headers < HEADERS_MAX ? received->n_headers : HEADERS_MAX;
    for (size_t i = 0; i < n; i++)
        headers[i] = (struct verify_header){received->headers[i].name, received->headers[i].value};
    return (struct verify_request){.method = received->method,
            .target = received->target,
            .headers = headers,
            .n_headers = n,
            .body = received->body,
            .now_s = received->now_s};
}

// The bytes that are signed: as they were sent, unless the scheme or the policy knows it otherwise.
static const char *signed_body(const struct source *source, const struct scheme *scheme,
        const struct received *received, struct text *hold, struct slice *ret_body)
{
    *ret_body = received->body;
    bool inflate = scheme && coded_is(received) && scheme_signs_inflated(scheme, source);
    return inflate ? coded_open(source, received, hold, ret_body) : NULL;
}

struct verdict door_verify(const struct source *source, const struct received *received)
{
    struct verify_header headers[HEADERS_MAX];
    struct verify_request request = request_of(received, headers);
    const struct scheme *scheme = scheme_of(source);
    AUTO_TEXT struct text hold = {.max = 0};
    const char *wrong = signed_body(source, scheme, received, &hold, &request.body);
    if (wrong)
        return (struct verdict){.kind = VERDICT_REFUSED,
                .style = style_of(scheme),
                .reason = wrong,
                .secret_index = -1};
    struct verdict verdict =
            verdict_of(verify_request(source, &request), scheme && scheme_is_app(scheme));
    verdict.style = style_of(scheme);
    return verdict;
}

void door_greet(
        const struct source *source, const struct received *received, struct greeting *ret_greeting)
{
    if (handshake_of(source) == HANDSHAKE_NONE)
        return;
    struct verify_header headers[HEADERS_MAX];
    struct verify_request request = request_of(received, headers);
    handshake_answer(source, &request, ret_greeting);
}

struct read_pointers door_pointers(const struct source *source)
{
    const struct scheme *scheme = scheme_of(source);
    if (!scheme)
        return (struct read_pointers){0};
    return (struct read_pointers){.id = scheme_id_pointer(scheme, source),
            .id_more = scheme_id_more(scheme),
            .id_digest = scheme_id_digest(scheme),
            .batch = scheme_batch(scheme),
            .type = scheme_type_pointer(scheme, source),
            .scope = scheme_scope_pointers(scheme),
            .time = scheme_time_pointer(scheme, source),
            .time_demanded = source->time_ptr,
            .app = scheme_is_app(scheme),
            .header_id = scheme_id_header(scheme),
            .header_type = scheme_type_header(scheme),
            .unsigned_id = scheme_id_unsigned(scheme)};
}
