// Sinch's SMS API: POST batches. client_reference is what a lost reply is looked up by.
// Source: https://developers.sinch.com/docs/sms/api-reference
#include "common/json/scan.h"
#include "dispatcher/send/compose.h"
#include "dispatcher/send/rules.h"
#include "dispatcher/send/sms.h"

#include <stdio.h>
#include <time.h>

static bool build_head(const struct provider *provider, const char *query,
        struct http_request *request, struct err *err)
{
    AUTO_TEXT struct text path = {0};
    text_init(&path, 320);
    if (!provider->account || !text_str(&path, "/xms/v1/") ||
            !compose_percent(&path, slice_of(provider->account)) || !text_str(&path, "/batches") ||
            !text_str(&path, query))
        return err_set(err, ERR_FATAL, "the provider's plan is missing or too long");
    const char *base = provider->url ? provider->url : "https://us.sms.api.sinch.com";
    return http_request_begin(request, base, text_cstr(&path), err) &&
           http_head_secret(request, "Authorization", "Bearer ", provider->password.value, err) &&
           http_head_add(request, "Content-Type", SLICE("application/json"), err);
}

// expire_at is a point in time, so that every try says the same.
static bool add_expiry(struct text *body, int64_t expires_s)
{
    char when[32];
    struct tm tm;
    time_t at = (time_t)expires_s;
    if (expires_s <= 0 || !gmtime_r(&at, &tm) ||
            strftime(when, sizeof when, "%Y-%m-%dT%H:%M:%S.000Z", &tm) == 0)
        return true;
    return compose_json(body, "expire_at", slice_of(when));
}

static bool add_callback(const struct provider *provider, const struct content *content,
        const char *key_hex, struct text *body)
{
    return !provider->callback ||
           (compose_json(body, "delivery_report", SLICE("per_recipient")) &&
                   sms_callback(provider, content, key_hex, compose_json, "callback_url", body));
}

bool sinch_build(const struct content *content, const struct provider *provider,
        const char *key_hex, struct http_request *ret_request, enum failure_level *ret_level,
        struct err *err)
{
    struct sms sms;
    AUTO_HTTP_REQUEST struct http_request request = {0};
    if (!sms_check(content, &sms, ret_level, err))
        return false;
    *ret_level = LEVEL_PROVIDER;
    if (!build_head(provider, "", &request, err))
        return false;
    struct text *body = &request.body;
    if (!text_char(body, '{') || !compose_json(body, "from", sms.from) ||
            !compose_json_raw(body, "to", "[") || !json_quote(body, sms.to) ||
            !text_char(body, ']') || !compose_json(body, "body", sms.text) ||
            !compose_json(body, "client_reference", slice_of(key_hex)) ||
            !add_expiry(body, content->expires_s) ||
            !add_callback(provider, content, key_hex, body) || !text_char(body, '}'))
        return err_set(err, ERR_FATAL, "the provider's callback is too long");
    *ret_request = request;
    request = (struct http_request){0};
    return true;
}

static const struct http_rule rules[] = {
        {201, NULL, ATTEMPT_ACCEPTED, LEVEL_MESSAGE, 0, false},
        {200, NULL, ATTEMPT_ACCEPTED, LEVEL_MESSAGE, 0, false},
        {400, NULL, ATTEMPT_REFUSED, LEVEL_MESSAGE, 0, false}, // syntax_..
        {401, NULL, ATTEMPT_RETRY, LEVEL_PROVIDER, 0, false},
        {402, NULL, ATTEMPT_RETRY, LEVEL_PROVIDER, 0, false}, // no credit
        {403, NULL, ATTEMPT_RETRY, LEVEL_PROVIDER, 0, false},
        {404, NULL, ATTEMPT_RETRY, LEVEL_PROVIDER, 0, false}, // no such plan
        {413, NULL, ATTEMPT_REFUSED, LEVEL_MESSAGE, 0, false},
        {429, NULL, ATTEMPT_RETRY, LEVEL_PROVIDER, 1, false},
};

void sinch_classify(const struct http_reply *reply, struct attempt_result *result)
{
    static const struct http_where where = {.code = "/code", .text = "/text", .id = "/id"};
    struct http_said said;
    http_said_read(reply->body, &where, &said);
    http_judge(rules, ARRAY_LEN(rules), reply, &said, result);
}

// Without a date it looks at the last day only.
bool sinch_look_build(const struct provider *provider, const char *key_hex, int64_t since_s,
        struct http_request *request, struct err *err)
{
    char query[160], when[32];
    struct tm tm;
    time_t at = (time_t)(since_s - 86400);
    if (!gmtime_r(&at, &tm) || strftime(when, sizeof when, "%Y-%m-%dT%H:%M:%S.000Z", &tm) == 0)
        return err_set(err, ERR_INPUT, "the day it was made is none");
    snprintf(query, sizeof query, "?page_size=%d&start_date=%s&client_reference=%s", LOOK_LIST,
            when, key_hex);
    request->method = "GET";
    return build_head(provider, query, request, err);
}

void sinch_look_read(
        const struct http_reply *reply, const char *key_hex, int nth, struct attempt_result *result)
{
    char reference[64], id[64], none[16];
    snprintf(none, sizeof none, "%d", nth);
    snprintf(reference, sizeof reference, "/batches/%d/client_reference", nth);
    snprintf(id, sizeof id, "/batches/%d/id", nth);
    const struct http_where where = {.code = "/count", .text = reference, .id = id};
    struct http_said said;
    http_said_read(reply->body, &where, &said);
    if (strcmp(said.code, none) == 0) {
        result->outcome = ATTEMPT_NOT_FOUND;
    } else if (strcmp(said.text, key_hex) == 0 && said.id[0]) {
        result->outcome = ATTEMPT_FOUND;
        memcpy(result->provider_id, said.id, sizeof said.id);
    }
}
