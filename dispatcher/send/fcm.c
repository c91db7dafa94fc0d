// Firebase Cloud Messaging, HTTP v1: one message a call.
// Sources: https://firebase.google.com/docs/reference/fcm/rest/v1/projects.messages and
// /docs/reference/fcm/rest/v1/ErrorCode
#include "common/json/scan.h"
#include "dispatcher/send/compose.h"
#include "dispatcher/send/push.h"
#include "dispatcher/send/rules.h"

#include <inttypes.h>
#include <stdio.h>

#define TTL_MAX_S INT64_C(2419200) // 28 days
#define TOKEN_MAX 4096

static bool is_registration(const char *token)
{
    size_t len = strlen(token);
    return len > 0 && len <= TOKEN_MAX &&
           strspn(token, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.:") ==
                   len;
}

// Names of FCM's own, and ours.
static bool is_reserved(struct slice name)
{
    return slice_eq(name, SLICE("from")) || slice_eq(name, SLICE("message_type")) ||
           slice_eq(name, SLICE("pawl")) || slice_starts(name, SLICE("gcm")) ||
           slice_starts(name, SLICE("google"));
}

// Values of `data` are strings there; what is none goes as its JSON.
static bool add_data(const char *data, struct text *out)
{
    static const char *const whole[] = {""};
    struct json_result found[1];
    struct json_token name, value;
    if (!data || !json_find(slice_of(data), whole, 1, found, NULL))
        return true;
    bool ok = true;
    for (size_t at = 0; ok && json_next(found[0].token, &at, &name, &value);) {
        AUTO_TEXT struct text key = {.max = FCM_PAYLOAD_MAX};
        AUTO_TEXT struct text said = {.max = FCM_PAYLOAD_MAX};
        bool plain = json_plain(value, &said, NULL) || text_add(&said, value.raw);
        ok = plain && json_text(name, &key, NULL) &&
             (is_reserved(text_slice(&key)) ||
                     compose_json(out, text_cstr(&key), text_slice(&said)));
    }
    return ok;
}

// FCM counts what the device gets.
static bool build_notification(const struct content *content, const char *key_hex, struct text *out)
{
    text_init(out, FCM_PAYLOAD_MAX);
    return text_char(out, '{') &&
           (!content->subject || !*content->subject ||
                   compose_json(out, "title", slice_of(content->subject))) &&
           compose_json(out, "body", slice_of(content->text)) && text_str(out, "},\"data\":{") &&
           add_data(content->data, out) && compose_json(out, "pawl", slice_of(key_hex)) &&
           text_char(out, '}');
}

static int64_t ttl_of(const struct content *content)
{
    return content->left_s > 0 && content->left_s < TTL_MAX_S ? content->left_s : TTL_MAX_S;
}

// What is shown ignores collapse_key; the tag is what makes a repeat take the first one's place.
static bool add_android(const struct content *content, const char *collapse, struct text *body)
{
    char ttl[24];
    snprintf(ttl, sizeof ttl, "%" PRId64 "s", ttl_of(content));
    return compose_json_raw(body, "android", "{") &&
           compose_json(body, "collapse_key", slice_of(collapse)) &&
           compose_json(body, "priority",
                   content->priority == PRIORITY_HIGH ? SLICE("HIGH") : SLICE("NORMAL")) &&
           compose_json(body, "ttl", slice_of(ttl)) &&
           compose_json_raw(body, "notification", "{") &&
           compose_json(body, "tag", slice_of(collapse)) && text_str(body, "}}");
}

static bool add_apns(const struct content *content, const char *collapse, struct text *body)
{
    char expires[24];
    snprintf(expires, sizeof expires, "%" PRId64, content->expires_s);
    return compose_json_raw(body, "apns", "{\"headers\":{") &&
           compose_json(body, "apns-collapse-id", slice_of(collapse)) &&
           compose_json(body, "apns-priority",
                   content->priority == PRIORITY_LOW ? SLICE("5") : SLICE("10")) &&
           (content->expires_s <= 0 || compose_json(body, "apns-expiration", slice_of(expires))) &&
           text_str(body, "}}");
}

static bool add_webpush(
        const struct content *content, const char *collapse, const char *topic, struct text *body)
{
    char ttl[24];
    snprintf(ttl, sizeof ttl, "%" PRId64, ttl_of(content));
    return compose_json_raw(body, "webpush", "{\"headers\":{") &&
           compose_json(body, "Topic", slice_of(topic)) &&
           compose_json(body, "TTL", slice_of(ttl)) && text_str(body, "},\"notification\":{") &&
           compose_json(body, "tag", slice_of(collapse)) && text_str(body, "}}");
}

static bool build_body(const struct content *content, const char *key_hex, struct text *body)
{
    AUTO_TEXT struct text notification = {0};
    char collapse[COLLAPSE_MAX + 1], topic[COLLAPSE_MAX + 1];
    push_collapse(content, key_hex, COLLAPSE_MAX, false, collapse);
    push_collapse(content, key_hex, 32, true, topic);
    return build_notification(content, key_hex, &notification) &&
           text_str(body, "{\"message\":{") && compose_json(body, "token", slice_of(content->to)) &&
           compose_json_raw(body, "notification", text_cstr(&notification)) &&
           add_android(content, collapse, body) && add_apns(content, collapse, body) &&
           add_webpush(content, collapse, topic, body) && text_str(body, "}}");
}

static bool begin(const struct provider *provider, struct http_request *request, struct err *err)
{
    AUTO_TEXT struct text path = {0};
    text_init(&path, 200);
    if (!provider->project || !text_str(&path, "/v1/projects/") ||
            !compose_percent(&path, slice_of(provider->project)) ||
            !text_str(&path, "/messages:send"))
        return err_set(err, ERR_FATAL, "the provider's project is missing or too long");
    const char *base = provider->url ? provider->url : "https://fcm.googleapis.com";
    return http_request_begin(request, base, text_cstr(&path), err) &&
           http_head_add(request, "Content-Type", SLICE("application/json"), err);
}

bool fcm_build(const struct content *content, const struct provider *provider, const char *key_hex,
        struct http_request *ret_request, enum failure_level *ret_level, struct err *err)
{
    AUTO_HTTP_REQUEST struct http_request request = {0};
    *ret_level = LEVEL_ADDRESS;
    if (!content->to || !is_registration(content->to))
        return err_set(err, ERR_INPUT, "the address is no FCM registration token");
    *ret_level = LEVEL_PROVIDER;
    if (!begin(provider, &request, err))
        return false;
    *ret_level = LEVEL_MESSAGE;
    if (!content->text || !*content->text)
        return err_set(err, ERR_INPUT, "the message has no text");
    if (!build_body(content, key_hex, &request.body))
        return err_set(
                err, ERR_INPUT, "the message is larger than FCM's %d bytes", FCM_PAYLOAD_MAX);
    *ret_request = request;
    request = (struct http_request){0};
    return true;
}
