// Fuzzes what providers answer, over all classifiers of SMS and push, and of SES.
// tests/fuzz/test_fuzz.py builds it. The first byte picks the classifier, the second how the try
// ended, the third the status, the fourth how much of the rest are headers. Properties: all that is
// kept is printable and bounded; accepted is only ever a 2xx, without a reply nothing is definite
// but that nothing was sent; a refusal is never the provider's state.
#include "dispatcher/send/push.h"
#include "dispatcher/send/ses.h"
#include "dispatcher/send/sms.h"

#include <assert.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void classify_gateway(const struct http_reply *reply, struct attempt_result *result)
{
    static char id[] = "/messages/0/id";
    static int success[] = {202};
    static const struct gateway gateway = {.id = id, .success = success, .n_success = 1};
    gateway_classify_by(&gateway, reply, result);
}

static void (*const classifiers[])(const struct http_reply *, struct attempt_result *) = {
        twilio_classify, sinch_classify, vonage_classify, telnyx_classify, gateway_classify,
        classify_gateway, apns_classify, fcm_classify, webpush_classify, ses_classify};
static const int statuses[] = {200, 201, 202, 204, 299, 301, 400, 401, 402, 403, 404, 405, 409, 410,
        413, 422, 429, 500, 502, 503, 504, 599, 100, 999};

static void check_text(const char *text, size_t max)
{
    assert(strnlen(text, max) < max);
    for (; *text; text++)
        assert(*text >= 0x20 && *text < 0x7f);
}

// browser: each has a push service of its own, so that one which is away is about that address.
static void check_result(
        const struct http_reply *reply, const struct attempt_result *result, bool browser)
{
    bool again = result->outcome == ATTEMPT_RETRY;
    check_text(result->detail, sizeof result->detail);
    check_text(result->enhanced, sizeof result->enhanced);
    check_text(result->provider_id, sizeof result->provider_id);
    assert(result->outcome >= ATTEMPT_ACCEPTED && result->outcome <= ATTEMPT_UNKNOWN);
    if (result->outcome == ATTEMPT_ACCEPTED)
        assert(reply->end == HTTP_REPLIED && reply->status / 100 == 2);
    else
        assert(result->provider_id[0] == '\0');
    if (reply->end == HTTP_CUT)
        assert(result->outcome == ATTEMPT_UNKNOWN);
    if (reply->end == HTTP_NOT_SENT)
        assert(again && result->level == (browser ? LEVEL_ADDRESS : LEVEL_PROVIDER));
    if (result->outcome == ATTEMPT_REFUSED)
        assert(result->level != LEVEL_PROVIDER && reply->end == HTTP_REPLIED);
    assert(!result->stale_token || (again && result->level == LEVEL_PROVIDER));
    assert(result->dead_since_ms >= 0);
    if (result->dead_since_ms)
        assert(result->outcome == ATTEMPT_REFUSED && result->level == LEVEL_ADDRESS);
    assert(result->retry_after_ms >= 0 && result->retry_after_ms <= HTTP_RETRY_AFTER_MAX_MS);
    assert(again || result->retry_after_ms == 0);
    assert(result->wire_ms == 7);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 4)
        return 0;
    enum http_end end = data[1] % 4 == 1   ? HTTP_NOT_SENT
                        : data[1] % 4 == 2 ? HTTP_CUT
                                           : HTTP_REPLIED;
    size_t rest = size - 4, head = data[3] < rest ? data[3] : rest;
    struct http_reply reply = {.end = end,
            .status = end == HTTP_REPLIED ? statuses[data[2] % ARRAY_LEN(statuses)] : 0,
            .head = {data + 4, head},
            .body = {data + 4 + head, rest - head},
            .why = data[1] & 0x80 ? "why" : NULL,
            .now_us = INT64_C(1790000000) * 1000000};
    struct attempt_result result = {.wire_ms = 7, .stale_token = true, .dead_since_ms = 9};
    memset(result.provider_id, 'x', sizeof result.provider_id);
    memset(result.enhanced, 'x', sizeof result.enhanced);
    size_t which = data[0] % ARRAY_LEN(classifiers);
    classifiers[which](&reply, &result);
    check_result(&reply, &result, classifiers[which] == webpush_classify);
    return 0;
}
