// Apple's push service: HTTP/2, one request a device.
// Sources: https://developer.apple.com/documentation/usernotifications, "Sending notification
// requests to APNs" and "Handling notification responses from APNs".
#include "common/json/scan.h"
#include "dispatcher/send/compose.h"
#include "dispatcher/send/jwt.h"
#include "dispatcher/send/push.h"
#include "dispatcher/send/rules.h"

#include <inttypes.h>
#include <stdio.h>

#define TOKEN_MAX 200 // hex digits; 64 today, and Apple says not to count on it

static bool is_device_token(const char *token)
{
    size_t len = strlen(token);
    return len >= 16 && len <= TOKEN_MAX && len % 2 == 0 &&
           strspn(token, "0123456789abcdefABCDEF") == len;
}

static bool add_number(
        struct http_request *request, const char *name, int64_t value, struct err *err)
{
    char number[24];
    snprintf(number, sizeof number, "%" PRId64, value);
    return http_head_add(request, name, slice_of(number), err);
}

// The key as the canonical UUID that apns-id must be.
static bool add_id(struct http_request *request, const char *key_hex, struct err *err)
{
    char id[40];
    if (strlen(key_hex) != 32)
        return err_set(err, ERR_INPUT, "the delivery's key is not 32 hex digits");
    snprintf(id, sizeof id, "%.8s-%.4s-%.4s-%.4s-%.12s", key_hex, key_hex + 8, key_hex + 12,
            key_hex + 16, key_hex + 20);
    return http_head_add(request, "apns-id", slice_of(id), err);
}

static bool build_head(const struct content *content, const struct provider *provider,
        const char *key_hex, struct http_request *request, struct err *err)
{
    char collapse[COLLAPSE_MAX + 1];
    push_collapse(content, key_hex, COLLAPSE_MAX, false, collapse);
    if (!http_head_add(request, "apns-topic", slice_of(provider->topic), err) ||
            !http_head_add(request, "apns-push-type", SLICE("alert"), err) ||
            !add_id(request, key_hex, err) ||
            !add_number(
                    request, "apns-priority", content->priority == PRIORITY_LOW ? 5 : 10, err) ||
            !http_head_add(request, "apns-collapse-id", slice_of(collapse), err) ||
            !http_head_add(request, "Content-Type", SLICE("application/json"), err))
        return false;
    // 0 would mean: now or never. Absent: Apple keeps it as long as it likes to.
    return content->expires_s <= 0 ||
           add_number(request, "apns-expiration", content->expires_s, err);
}

static bool build_body(const struct content *content, const char *key_hex, struct text *body)
{
    body->max = APNS_PAYLOAD_MAX;
    return text_str(body, "{\"aps\":{\"alert\":{") &&
           (!content->subject || !*content->subject ||
                   compose_json(body, "title", slice_of(content->subject))) &&
           compose_json(body, "body", slice_of(content->text)) &&
           text_str(body, "},\"sound\":\"default\"}") &&
           (!content->data || compose_json_raw(body, "data", content->data)) &&
           compose_json(body, "pawl", slice_of(key_hex)) && text_char(body, '}');
}

bool apns_build(const struct content *content, const struct provider *provider, const char *key_hex,
        struct http_request *ret_request, enum failure_level *ret_level, struct err *err)
{
    AUTO_HTTP_REQUEST struct http_request request = {0};
    char path[TOKEN_MAX + 16];
    *ret_level = LEVEL_ADDRESS;
    if (!content->to || !is_device_token(content->to))
        return err_set(err, ERR_INPUT, "the address is no APNs device token");
    snprintf(path, sizeof path, "/3/device/%s", content->to);
    *ret_level = LEVEL_PROVIDER;
    const char *base = provider->url ? provider->url : "https://api.push.apple.com";
    if (!http_request_begin(&request, base, path, err) ||
            !build_head(content, provider, key_hex, &request, err))
        return false;
    *ret_level = LEVEL_MESSAGE;
    if (!content->text || !*content->text)
        return err_set(err, ERR_INPUT, "the message has no text");
    if (!build_body(content, key_hex, &request.body))
        return err_set(
                err, ERR_INPUT, "the message is larger than APNs' %d bytes", APNS_PAYLOAD_MAX);
    request.http2 = true;
    *ret_request = request;
    request = (struct http_request){0};
    return true;
}

static const struct http_rule rules[] = {
        {200, NULL, ATTEMPT_ACCEPTED, LEVEL_MESSAGE, 0, false},
        {400, "BadDeviceToken", ATTEMPT_REFUSED, LEVEL_ADDRESS, 0, false},
        // Another app's token, or our topic is wrong: the token itself may be alive.
        {400, "DeviceTokenNotForTopic", ATTEMPT_REFUSED, LEVEL_MESSAGE, 0, false},
        {400, "BadCollapseId", ATTEMPT_REFUSED, LEVEL_MESSAGE, 0, false},
        {400, "BadExpirationDate", ATTEMPT_REFUSED, LEVEL_MESSAGE, 0, false},
        {400, "BadMessageId", ATTEMPT_REFUSED, LEVEL_MESSAGE, 0, false},
        {400, "BadPriority", ATTEMPT_REFUSED, LEVEL_MESSAGE, 0, false},
        {400, "BadTopic", ATTEMPT_REFUSED, LEVEL_MESSAGE, 0, false},
        {400, "DuplicateHeaders", ATTEMPT_REFUSED, LEVEL_MESSAGE, 0, false},
        {400, "InvalidPushType", ATTEMPT_REFUSED, LEVEL_MESSAGE, 0, false},
        {400, "MissingDeviceToken", ATTEMPT_REFUSED, LEVEL_MESSAGE, 0, false},
        {400, "MissingTopic", ATTEMPT_REFUSED, LEVEL_MESSAGE, 0, false},
        {400, "PayloadEmpty", ATTEMPT_REFUSED, LEVEL_MESSAGE, 0, false},
        {400, "TopicDisallowed", ATTEMPT_REFUSED, LEVEL_MESSAGE, 0, false},
        {400, "IdleTimeout", ATTEMPT_RETRY, LEVEL_PROVIDER, 0, false}, // of the connection
        {400, NULL, ATTEMPT_REFUSED, LEVEL_MESSAGE, 0, false},
        {403, "ExpiredProviderToken", ATTEMPT_RETRY, LEVEL_PROVIDER, 0, true},
        {403, "InvalidProviderToken", ATTEMPT_RETRY, LEVEL_PROVIDER, 0, false},
        {403, "MissingProviderToken", ATTEMPT_RETRY, LEVEL_PROVIDER, 0, false},
        {403, "BadCertificate", ATTEMPT_RETRY, LEVEL_PROVIDER, 0, false},
        {403, "BadCertificateEnvironment", ATTEMPT_RETRY, LEVEL_PROVIDER, 0, false},
        {403, "Forbidden", ATTEMPT_RETRY, LEVEL_PROVIDER, 0, false},
        {404, "BadPath", ATTEMPT_RETRY, LEVEL_PROVIDER, 0, false}, // ours
        {405, "MethodNotAllowed", ATTEMPT_RETRY, LEVEL_PROVIDER, 0, false},
        {410, "Unregistered", ATTEMPT_REFUSED, LEVEL_ADDRESS, 0, false},
        {410, "ExpiredToken", ATTEMPT_REFUSED, LEVEL_ADDRESS, 0, false},
        {413, "PayloadTooLarge", ATTEMPT_REFUSED, LEVEL_MESSAGE, 0, false},
        {429, "TooManyRequests", ATTEMPT_RETRY, LEVEL_ADDRESS, 30, false}, // this token's
        // The token stays: another new one would make it worse.
        {429, "TooManyProviderTokenUpdates", ATTEMPT_RETRY, LEVEL_PROVIDER, 60, false},
        {500, "InternalServerError", ATTEMPT_RETRY, LEVEL_MESSAGE, 0, false},
        {503, "ServiceUnavailable", ATTEMPT_RETRY, LEVEL_PROVIDER, 0, false},
        {503, "Shutdown", ATTEMPT_RETRY, LEVEL_PROVIDER, 0, false},
};

// Milliseconds since 1970, only on 410.
static int64_t read_timestamp(struct slice body)
{
    static const char *const pointer[] = {"/timestamp"};
    struct json_result found[1];
    int64_t ms = 0;
    if (body.len == 0 || !json_find(body, pointer, 1, found, NULL) ||
            found[0].found != JSON_FOUND || !json_int64(found[0].token, &ms, NULL))
        return 0;
    return ms > 0 ? ms : 0;
}

void apns_classify(const struct http_reply *reply, struct attempt_result *result)
{
    static const struct http_where where = {.code = "/reason"};
    struct http_said said;
    struct slice id;
    http_said_read(reply->body, &where, &said);
    if (reply->status == 200 && http_head_find(reply->head, "apns-id", &id) &&
            id.len < sizeof said.id)
        snprintf(said.id, sizeof said.id, "%.*s", (int)id.len, (const char *)id.ptr);
    http_judge(rules, ARRAY_LEN(rules), reply, &said, result);
    if (reply->status == 410 && result->level == LEVEL_ADDRESS)
        result->dead_since_ms = read_timestamp(reply->body);
}

bool apns_token(struct slice key_pem, const char *team, const char *key_id, int64_t now_s,
        struct text *out, struct err *err)
{
    AUTO_TEXT struct text header = {0};
    AUTO_TEXT struct text claims = {0};
    text_init(&header, 256);
    text_init(&claims, 256);
    if (!text_str(&header, "{\"alg\":\"ES256\"") ||
            !compose_json(&header, "kid", slice_of(key_id)) || !text_char(&header, '}') ||
            !text_char(&claims, '{') || !compose_json(&claims, "iss", slice_of(team)) ||
            !compose_json_int(&claims, "iat", now_s) || !text_char(&claims, '}'))
        return err_set(err, ERR_FATAL, "the provider's team or key_id is too long");
    return jwt_sign(JWS_ES256, key_pem, text_cstr(&header), text_cstr(&claims), out, err);
}
