// Telnyx' Messaging API. Idempotency-Key: the same key and the same bytes again give the first
// answer for 24 hours, so a repeat is the look-up.
// Sources: https://developers.telnyx.com/docs/messaging/messages/error-codes and
// /development/api-fundamentals/api-errors
#include "common/json/scan.h"
#include "dispatcher/send/compose.h"
#include "dispatcher/send/rules.h"
#include "dispatcher/send/sms.h"

static bool build_head(const struct provider *provider, const char *repeat_key,
        struct http_request *request, struct err *err)
{
    const char *base = provider->url ? provider->url : "https://api.telnyx.com";
    return http_request_begin(request, base, "/v2/messages", err) &&
           http_head_secret(request, "Authorization", "Bearer ", provider->password.value, err) &&
           http_head_add(request, "Idempotency-Key", slice_of(repeat_key), err) &&
           http_head_add(request, "Content-Type", SLICE("application/json"), err);
}

// Tags come back in each webhook, where they are signed as the callback's URL is not.
static bool add_tags(const struct content *content, const char *key_hex, struct text *body)
{
    return !content->place ||
           (compose_json_raw(body, "tags", "[") && json_quote(body, slice_of(key_hex)) &&
                   text_char(body, ',') && json_quote(body, slice_of(content->place)) &&
                   text_char(body, ']'));
}

bool telnyx_build(const struct content *content, const struct provider *provider,
        const char *key_hex, struct http_request *ret_request, enum failure_level *ret_level,
        struct err *err)
{
    struct sms sms;
    AUTO_HTTP_REQUEST struct http_request request = {0};
    if (!sms_check(content, &sms, ret_level, err))
        return false;
    *ret_level = LEVEL_PROVIDER;
    const char *repeat = content->repeat_key ? content->repeat_key : key_hex;
    if (!build_head(provider, repeat, &request, err))
        return false;
    struct text *body = &request.body;
    if (!text_char(body, '{') || !compose_json(body, "from", sms.from) ||
            !compose_json(body, "to", sms.to) || !compose_json(body, "text", sms.text) ||
            !add_tags(content, key_hex, body) ||
            !sms_callback(provider, content, key_hex, compose_json, "webhook_url", body) ||
            !text_char(body, '}'))
        return err_set(err, ERR_FATAL, "the provider's callback is too long");
    *ret_request = request;
    request = (struct http_request){0};
    return true;
}

static const struct http_rule rules[] = {
        {200, NULL, ATTEMPT_ACCEPTED, LEVEL_MESSAGE, 0, false},
        {201, NULL, ATTEMPT_ACCEPTED, LEVEL_MESSAGE, 0, false},
        {202, NULL, ATTEMPT_ACCEPTED, LEVEL_MESSAGE, 0, false},
        {0, "10009", ATTEMPT_RETRY, LEVEL_PROVIDER, 0, false},  // sign-in failed
        {0, "10010", ATTEMPT_RETRY, LEVEL_PROVIDER, 0, false},  // not allowed
        {0, "10011", ATTEMPT_RETRY, LEVEL_PROVIDER, 1, false},  // too many requests
        {0, "10007", ATTEMPT_UNKNOWN, LEVEL_MESSAGE, 0, false}, // internal
        {0, "10002", ATTEMPT_REFUSED, LEVEL_ADDRESS, 0, false}, // no valid number
        {0, "10016", ATTEMPT_REFUSED, LEVEL_ADDRESS, 0, false}, // not E.164
        {0, "40001", ATTEMPT_REFUSED, LEVEL_ADDRESS, 0, false}, // landline, no route
        {0, "40002", ATTEMPT_REFUSED, LEVEL_MESSAGE, 0, false}, // filtered
        {0, "40003", ATTEMPT_RETRY, LEVEL_PROVIDER, 0, false},  // our number is blocked
        {0, "40300", ATTEMPT_REFUSED, LEVEL_ADDRESS, 0, false}, // opted out
        {0, "40310", ATTEMPT_REFUSED, LEVEL_ADDRESS, 0, false}, // invalid recipient
        {0, "40305", ATTEMPT_RETRY, LEVEL_PROVIDER, 0, false},  // invalid sender
        {409, NULL, ATTEMPT_RETRY, LEVEL_MESSAGE, 1, false},    // the first one still runs
        {400, NULL, ATTEMPT_REFUSED, LEVEL_MESSAGE, 0, false},
        {422, NULL, ATTEMPT_REFUSED, LEVEL_MESSAGE, 0,
                false}, // .. or the same key with other bytes
        {429, NULL, ATTEMPT_RETRY, LEVEL_PROVIDER, 1, false},
};

void telnyx_classify(const struct http_reply *reply, struct attempt_result *result)
{
    static const struct http_where taken = {.id = "/data/id"},
                                   refused = {.code = "/errors/0/code", .text = "/errors/0/detail"};
    struct http_said said;
    http_said_read(reply->body, reply->status / 100 == 2 ? &taken : &refused, &said);
    http_judge(rules, ARRAY_LEN(rules), reply, &said, result);
    result->other_bytes = reply->status == 422 && result->outcome == ATTEMPT_REFUSED &&
                          result->level == LEVEL_MESSAGE;
}
