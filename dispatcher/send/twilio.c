// Twilio's Programmable Messaging: POST Messages.json.
// It knows no idempotency key and no reference of ours; the key travels in the callback's URL.
// Source: its OpenAPI document, https://www.twilio.com/docs/api/errors
#include "dispatcher/send/compose.h"
#include "dispatcher/send/rules.h"
#include "dispatcher/send/sms.h"

#include <stdio.h>

#define BODY_MAX 16384
#define VALIDITY_MAX_S 36000

static bool build_url(
        const struct provider *provider, struct http_request *request, struct err *err)
{
    AUTO_TEXT struct text path = {0};
    text_init(&path, 200);
    if (!provider->account || !text_str(&path, "/2010-04-01/Accounts/") ||
            !compose_percent(&path, slice_of(provider->account)) ||
            !text_str(&path, "/Messages.json"))
        return err_set(err, ERR_FATAL, "the provider's account is missing or too long");
    const char *base = provider->url ? provider->url : "https://api.twilio.com";
    return http_request_begin(request, base, text_cstr(&path), err) &&
           http_head_basic(request, slice_of(provider->account), provider->password.value, err) &&
           http_head_add(request, "Content-Type", SLICE("application/x-www-form-urlencoded"), err);
}

// ValidityPeriod: how long it may wait in the queue, in seconds.
static bool add_validity(struct text *body, int64_t left_s)
{
    char number[24];
    int64_t most = left_s < VALIDITY_MAX_S ? left_s : VALIDITY_MAX_S;
    int n = snprintf(number, sizeof number, "%lld", (long long)most);
    return n > 0 && (left_s <= 0 || compose_form(body, "ValidityPeriod", slice_of(number)));
}

bool twilio_build(const struct content *content, const struct provider *provider,
        const char *key_hex, struct http_request *ret_request, enum failure_level *ret_level,
        struct err *err)
{
    struct sms sms;
    AUTO_HTTP_REQUEST struct http_request request = {0};
    if (!sms_check(content, &sms, ret_level, err))
        return false;
    *ret_level = LEVEL_PROVIDER;
    if (!build_url(provider, &request, err))
        return false;
    request.body.max = BODY_MAX;
    if (!compose_form(&request.body, "To", sms.to) ||
            !compose_form(&request.body, "From", sms.from) ||
            !compose_form(&request.body, "Body", sms.text) ||
            !sms_callback(
                    provider, content, key_hex, compose_form, "StatusCallback", &request.body) ||
            !add_validity(&request.body, content->left_s))
        return err_set(err, ERR_FATAL, "the provider's callback is too long");
    *ret_request = request;
    request = (struct http_request){0};
    return true;
}

// Codes with status 0 stand in replies and in status callbacks alike.
static const struct http_rule rules[] = {
        {201, NULL, ATTEMPT_ACCEPTED, LEVEL_MESSAGE, 0, false},
        {0, "20429", ATTEMPT_RETRY, LEVEL_PROVIDER, 1, false}, // too many requests
        {0, "20500", ATTEMPT_UNKNOWN, LEVEL_MESSAGE, 0,
                false},                                        // internal: sending again may double
        {0, "20003", ATTEMPT_RETRY, LEVEL_PROVIDER, 0, false}, // account or token
        {0, "21211", ATTEMPT_REFUSED, LEVEL_ADDRESS, 0, false},   // no valid number
        {0, "21614", ATTEMPT_REFUSED, LEVEL_ADDRESS, 0, false},   // no mobile
        {0, "21610", ATTEMPT_REFUSED, LEVEL_ADDRESS, 0, false},   // opted out
        {0, "21612", ATTEMPT_REFUSED, LEVEL_MESSAGE, 0, false},   // no route from this sender
        {0, "21408", ATTEMPT_REFUSED, LEVEL_MESSAGE, 0, false},   // region not enabled
        {0, "21602", ATTEMPT_REFUSED, LEVEL_MESSAGE, 0, false},   // no body
        {0, "21617", ATTEMPT_REFUSED, LEVEL_MESSAGE, 0, false},   // body too long
        {0, "21606", ATTEMPT_RETRY, LEVEL_PROVIDER, 0, false},    // sender can't send
        {0, "21608", ATTEMPT_RETRY, LEVEL_PROVIDER, 0, false},    // trial account
        {0, "30001", ATTEMPT_RETRY, LEVEL_PROVIDER, 60, false},   // queue overflow
        {0, "30003", ATTEMPT_RETRY, LEVEL_ADDRESS, 600, false},   // handset off
        {0, "30004", ATTEMPT_REFUSED, LEVEL_ADDRESS, 0, false},   // blocked
        {0, "30005", ATTEMPT_REFUSED, LEVEL_ADDRESS, 0, false},   // unknown handset
        {0, "30006", ATTEMPT_REFUSED, LEVEL_ADDRESS, 0, false},   // landline
        {0, "30007", ATTEMPT_REFUSED, LEVEL_MESSAGE, 0, false},   // filtered: never sent again
        {0, "30008", ATTEMPT_REFUSED, LEVEL_MESSAGE, 0, false},   // not delivered, reason unknown
        {0, "30022", ATTEMPT_RETRY, LEVEL_PROVIDER, 60, false},   // A2P rate
        {0, "30023", ATTEMPT_RETRY, LEVEL_PROVIDER, 3600, false}, // A2P daily cap
        {400, NULL, ATTEMPT_REFUSED, LEVEL_MESSAGE, 0, false},
        {429, NULL, ATTEMPT_RETRY, LEVEL_PROVIDER, 1, false},
};

// This sender can't send to that destination; a trial account not to that number.
static const char *const apart[] = {"21606", "21608"};

void twilio_classify(const struct http_reply *reply, struct attempt_result *result)
{
    static const struct http_where taken = {.id = "/sid"},
                                   refused = {.code = "/code", .text = "/message"};
    struct http_said said;
    http_said_read(reply->body, reply->status / 100 == 2 ? &taken : &refused, &said);
    http_judge(rules, ARRAY_LEN(rules), reply, &said, result);
    http_apart(apart, ARRAY_LEN(apart), &said, result);
}

bool twilio_error(
        const char *code, enum attempt_outcome *ret_outcome, enum failure_level *ret_level)
{
    for (size_t i = 0; i < ARRAY_LEN(rules); i++) {
        if (rules[i].code && strcmp(rules[i].code, code) == 0) {
            *ret_outcome = rules[i].outcome;
            *ret_level = rules[i].level;
            return true;
        }
    }
    return false;
}
