#include "receiver/door.h"

#include "receiver/http/coded.h"
#include "receiver/receipt/receipt_read.h"
#include "receiver/verify/handshake.h"
#include "receiver/verify/sns.h"
#include "receiver/verify/verify.h"

#define HEADERS_MAX 128
#define CONFIRM_URL_MAX 8192

static const struct door_keys no_keys;
static const struct door_keys *door_keys = &no_keys;

void door_use(const struct door_keys *keys)
{
    door_keys = keys ? keys : &no_keys;
}

static struct verdict verdict_of(struct verify_result result, bool app)
{
    enum verdict_kind kind = VERDICT_REFUSED;
    if (result.reason == VERIFY_OK)
        kind = VERDICT_OK;
    else if (result.reason == VERIFY_NO_SECRET || result.reason == VERIFY_NO_URL)
        kind = VERDICT_NO_SECRET;
    else if (result.reason == VERIFY_NO_ID)
        kind = VERDICT_NO_KEY;
    else if (result.reason == VERIFY_KEY_PENDING || result.reason == VERIFY_KEY_UNAVAILABLE)
        kind = VERDICT_KEY_AWAY;
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
            [REPLY_ACCEPTED_BODY] = STYLE_ACCEPTED,
            [REPLY_CLIENT_ID] = STYLE_CLIENT_ID};
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
            .now_s = received->now_s,
            .keys = door_keys->ring};
}

// A confirmation that was not answered as one, since its key came between two looks, is no event:
// the next try is answered.
static void hold_confirmation(
        const struct scheme *scheme, struct slice body, struct verify_result *result)
{
    if (result->reason == VERIFY_OK && scheme_handshake(scheme) == HANDSHAKE_SNS &&
            sns_kind_of(body) != SNS_EVENT)
        result->reason = VERIFY_KEY_PENDING;
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
    struct verify_result result = verify_request(source, &request);
    if (scheme)
        hold_confirmation(scheme, request.body, &result);
    struct verdict verdict = verdict_of(result, scheme && scheme_is_app(scheme));
    verdict.style = style_of(scheme);
    return verdict;
}

static bool start_confirm(const struct source *source, struct slice body)
{
    AUTO_TEXT struct text url = {.max = CONFIRM_URL_MAX};
    return door_keys->confirm && sns_confirm_url(body, &url) &&
           door_keys->confirm(door_keys->user, source->name, text_cstr(&url));
}

// What is not authentic, or can't be told yet, goes on to be verified, which says why.
static void greet_sns(const struct source *source, const struct verify_request *request,
        struct greeting *greeting)
{
    struct slice body = request->body;
    enum sns_kind kind = slice_has(body, SLICE("Confirmation")) ? sns_kind_of(body) : SNS_EVENT;
    if (kind == SNS_EVENT || verify_request(source, request).reason != VERIFY_OK)
        return;
    greeting->name = "aws-sns";
    if (kind == SNS_SUBSCRIBE && !start_confirm(source, body)) {
        greeting->kind = GREETING_UNABLE;
        greeting->reason = "confirmation_not_taken";
        return;
    }
    greeting->kind = GREETING_ANSWERED;
    greeting->status = 200;
}

void door_greet(
        const struct source *source, const struct received *received, struct greeting *ret_greeting)
{
    if (handshake_of(source) == HANDSHAKE_NONE)
        return;
    struct verify_header headers[HEADERS_MAX];
    struct verify_request request = request_of(received, headers);
    if (handshake_of(source) == HANDSHAKE_SNS)
        greet_sns(source, &request, ret_greeting);
    else
        handshake_answer(source, &request, ret_greeting);
}

struct read_pointers door_pointers(const struct source *source)
{
    const struct scheme *scheme = scheme_of(source);
    if (!scheme)
        return (struct read_pointers){0};
    return (struct read_pointers){.id = scheme_id_pointer(scheme, source),
            .id_more = scheme_id_more(scheme),
            .id_digest = scheme_id_digest(scheme) || source->id_digest,
            .id_each = scheme_id_each(scheme),
            .batch = scheme_batch(scheme),
            .inner = scheme_inner(scheme),
            .inner_xml = scheme_inner_xml(scheme),
            .type = scheme_type_pointer(scheme, source),
            .type_more = scheme_type_more(scheme),
            .type_of_batch = scheme_type_of_batch(scheme),
            .volatiles = scheme_volatiles(scheme),
            .scope = scheme_scope_pointers(scheme),
            .time = scheme_time_pointer(scheme, source),
            .time_demanded = source->time_ptr,
            .app = scheme_is_app(scheme),
            .header_id = scheme_id_header(scheme),
            .header_type = scheme_type_told(scheme),
            .unsigned_id = scheme_id_unsigned(scheme),
            .receipt = source->receipts ? receipt_read : NULL};
}
