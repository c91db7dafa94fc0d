// Web Push: one POST to the subscription's endpoint (RFC 8030), encrypted (RFC 8291), signed with
// the application server's own key (RFC 8292).
#include "common/base64.h"
#include "common/json/scan.h"
#include "dispatcher/send/compose.h"
#include "dispatcher/send/jwt.h"
#include "dispatcher/send/push.h"
#include "dispatcher/send/rules.h"
#include "dispatcher/send/webpush_crypt.h"

#include <inttypes.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <stdio.h>

#define TTL_MAX_S INT64_C(2419200) // 28 days, which every service takes
#define TOPIC_MAX 32
#define TOKEN_LIFE_S (12 * 3600)

struct subscription {
    struct text endpoint;
    struct webpush_keys keys;
};

static bool read_key(const struct json_result *found, unsigned char *out, size_t size)
{
    AUTO_TEXT struct text text = {0};
    size_t len = 0;
    text_init(&text, 256);
    if (found->found != JSON_FOUND || !json_text(found->token, &text, NULL))
        return false;
    struct slice digits = text_slice(&text);
    while (digits.len && digits.ptr[digits.len - 1] == '=')
        digits.len--;
    return base64url_decode(digits, out, size, &len) && len == size;
}

// The subscription as PushSubscription.toJSON() gives it.
static bool read_subscription(
        const char *address, struct subscription *ret_subscription, struct err *err)
{
    static const char *const pointers[] = {"/endpoint", "/keys/p256dh", "/keys/auth"};
    struct subscription *got = ret_subscription;
    struct json_result found[3];
    text_init(&got->endpoint, HTTP_URL_MAX);
    if (!address || !json_find(slice_of(address), pointers, 3, found, NULL) ||
            found[0].found != JSON_FOUND || !json_text(found[0].token, &got->endpoint, NULL) ||
            !read_key(&found[1], got->keys.public, sizeof got->keys.public) ||
            !read_key(&found[2], got->keys.auth, sizeof got->keys.auth))
        return err_set(err, ERR_INPUT, "the address is no web push subscription");
    return true;
}

static bool derive(const struct provider *provider, struct slice of, unsigned char out[32])
{
    unsigned len = 32;
    struct slice key = provider->password.value;
    return key.len > 0 && key.len <= INT32_MAX &&
           HMAC(EVP_sha256(), key.ptr, (int)key.len, of.ptr, of.len, out, &len) && len == 32;
}

// Salt and ephemeral key by HMAC of our signing key over the delivery and all that it says: secret,
// new for each message, and the same when the same message is sent again.
static bool make_fresh(const struct provider *provider, const char *key_hex, const char *address,
        struct slice plain, struct webpush_fresh *ret_fresh)
{
    AUTO_TEXT struct text seed = {0};
    unsigned char salt[32];
    text_init(&seed, 16384);
    if (!text_fmt(&seed, "pawl web push salt %s %s ", key_hex, address) ||
            !text_add(&seed, plain) || !derive(provider, text_slice(&seed), salt))
        return false;
    memcpy(ret_fresh->salt, salt, sizeof ret_fresh->salt);
    text_reset(&seed);
    if (!text_fmt(&seed, "pawl web push secret %s %s ", key_hex, address) ||
            !text_add(&seed, plain) || !derive(provider, text_slice(&seed), ret_fresh->secret))
        return false;
    ret_fresh->secret[0] &= 0x7f; // below the order of P-256, which begins with 32 ones
    return true;
}

static bool build_plain(const struct content *content, const char *key_hex, struct text *plain)
{
    char tag[COLLAPSE_MAX + 1];
    push_collapse(content, key_hex, COLLAPSE_MAX, false, tag);
    text_init(plain, WEBPUSH_PLAIN_MAX);
    return text_char(plain, '{') &&
           (!content->subject || !*content->subject ||
                   compose_json(plain, "title", slice_of(content->subject))) &&
           compose_json(plain, "body", slice_of(content->text)) &&
           (!content->data || compose_json_raw(plain, "data", content->data)) &&
           compose_json(plain, "tag", slice_of(tag)) &&
           compose_json(plain, "pawl", slice_of(key_hex)) && text_char(plain, '}');
}

static bool build_head(const struct content *content, const char *key_hex,
        struct http_request *request, struct err *err)
{
    static const char *const urgency[] = {
            [PRIORITY_HIGH] = "high", [PRIORITY_NORMAL] = "normal", [PRIORITY_LOW] = "low"};
    char ttl[24], topic[COLLAPSE_MAX + 1];
    bool limited = content->left_s > 0 && content->left_s < TTL_MAX_S;
    push_collapse(content, key_hex, TOPIC_MAX, true, topic);
    snprintf(ttl, sizeof ttl, "%" PRId64, limited ? content->left_s : TTL_MAX_S);
    return http_head_add(request, "TTL", slice_of(ttl), err) &&
           http_head_add(request, "Topic", slice_of(topic), err) &&
           http_head_add(request, "Urgency", slice_of(urgency[content->priority]), err) &&
           http_head_add(request, "Content-Encoding", SLICE("aes128gcm"), err) &&
           http_head_add(request, "Content-Type", SLICE("application/octet-stream"), err);
}

static bool build_body(const struct content *content, const struct provider *provider,
        const char *key_hex, const struct webpush_keys *keys, struct http_request *request,
        struct err *err)
{
    AUTO_TEXT struct text plain = {0};
    struct webpush_fresh fresh;
    if (!content->text || !*content->text)
        return err_set(err, ERR_INPUT, "the message has no text");
    if (!build_plain(content, key_hex, &plain))
        return err_set(err, ERR_INPUT, "the message is larger than %d bytes", WEBPUSH_PLAIN_MAX);
    if (!make_fresh(provider, key_hex, content->to, text_slice(&plain), &fresh))
        return err_set(err, ERR_FATAL, "the provider's key is missing");
    bool ok = webpush_encrypt(text_slice(&plain), keys, &fresh, &request->body, err);
    explicit_bzero(&fresh, sizeof fresh);
    return ok;
}

// The endpoint comes from a browser, that is from anybody: it must not name a service in here. What
// its name leads to, the transport looks at.
static bool endpoint_ok(const struct provider *provider, const char *endpoint, struct err *err)
{
    return provider->private_net || strncmp(endpoint, "https://", 8) == 0 ||
           err_set(err, ERR_INPUT, "the subscription's endpoint is not https://");
}

bool webpush_build(const struct content *content, const struct provider *provider,
        const char *key_hex, struct http_request *ret_request, enum failure_level *ret_level,
        struct err *err)
{
    struct subscription subscription = {0};
    AUTO_HTTP_REQUEST struct http_request request = {0};
    *ret_level = LEVEL_ADDRESS;
    struct err why = {0};
    bool ok = read_subscription(content->to, &subscription, &why) &&
              endpoint_ok(provider, text_cstr(&subscription.endpoint), &why) &&
              http_request_begin(&request, text_cstr(&subscription.endpoint), "", &why);
    text_fini(&subscription.endpoint);
    if (!ok)
        return err_set(err, ERR_INPUT, "%s", why.msg);
    *ret_level = LEVEL_MESSAGE;
    if (!build_head(content, key_hex, &request, err))
        return false;
    if (!build_body(content, provider, key_hex, &subscription.keys, &request, &why)) {
        *ret_level = why.kind == ERR_FATAL ? LEVEL_PROVIDER : LEVEL_MESSAGE;
        return err_set(err, why.kind, "%s", why.msg);
    }
    request.strange = true;
    *ret_request = request;
    request = (struct http_request){0};
    return true;
}

// autopush (Mozilla) says an errno besides.
static const struct http_rule rules[] = {
        {201, NULL, ATTEMPT_ACCEPTED, LEVEL_MESSAGE, 0, false},
        {200, NULL, ATTEMPT_ACCEPTED, LEVEL_MESSAGE, 0, false},
        {202, NULL, ATTEMPT_ACCEPTED, LEVEL_MESSAGE, 0, false},
        {400, NULL, ATTEMPT_REFUSED, LEVEL_MESSAGE, 0, false}, // 111: no TTL; 110: the encryption
        // Also where this one device subscribed with another key than ours.
        {401, NULL, ATTEMPT_RETRY, LEVEL_ADDRESS, 0, false},
        {403, NULL, ATTEMPT_RETRY, LEVEL_ADDRESS, 0, false},
        {404, NULL, ATTEMPT_REFUSED, LEVEL_ADDRESS, 0, false},
        {410, NULL, ATTEMPT_REFUSED, LEVEL_ADDRESS, 0, false},
        {413, NULL, ATTEMPT_REFUSED, LEVEL_MESSAGE, 0, false},
        {429, NULL, ATTEMPT_RETRY, LEVEL_ADDRESS, 1, false},
        {503, "201", ATTEMPT_RETRY, LEVEL_ADDRESS, 0, false}, // back off
        {503, "202", ATTEMPT_RETRY, LEVEL_MESSAGE, 0, false}, // at once is fine
};

void webpush_classify(const struct http_reply *reply, struct attempt_result *result)
{
    static const struct http_where where = {.code = "/errno", .text = "/message"};
    struct http_said said;
    struct slice place;
    http_said_read(reply->body, &where, &said);
    if (reply->status / 100 == 2 && http_head_find(reply->head, "Location", &place) &&
            place.len < sizeof said.id)
        snprintf(said.id, sizeof said.id, "%.*s", (int)place.len, (const char *)place.ptr);
    http_judge(rules, ARRAY_LEN(rules), reply, &said, result);
    // Each browser has a service of its own, and whoever has a device chooses it: what one says or
    // fails in says nothing about the others.
    if (result->level == LEVEL_PROVIDER || result->outcome == ATTEMPT_UNKNOWN)
        result->level = LEVEL_ADDRESS;
    if (reply->end == HTTP_NOT_SENT && reply->barred)
        result->outcome = ATTEMPT_REFUSED;
}

// scheme://host[:port] of the endpoint: who the token is for.
static struct slice origin_of(const char *url)
{
    const char *host = strstr(url, "://");
    size_t len = host ? (size_t)(host - url) + 3 : 0;
    return (struct slice){(const unsigned char *)url, len + strcspn(url + len, "/?#")};
}

static bool build_claims(
        const struct slice origin, const char *subject, int64_t now_s, struct text *claims)
{
    return text_char(claims, '{') && compose_json(claims, "aud", origin) &&
           compose_json_int(claims, "exp", now_s + TOKEN_LIFE_S) &&
           compose_json(claims, "sub", slice_of(subject)) && text_char(claims, '}');
}

bool webpush_token(struct slice key_pem, const char *subject, const char *address, int64_t now_s,
        struct text *out, struct err *err)
{
    struct subscription subscription = {0};
    AUTO_TEXT struct text claims = {0};
    unsigned char point[65];
    text_init(&claims, 4096);
    bool ok =
            read_subscription(address, &subscription, err) &&
            (build_claims(origin_of(text_cstr(&subscription.endpoint)), subject, now_s, &claims) ||
                    err_set(err, ERR_FATAL, "the provider's subject is too long")) &&
            jwt_public_point(key_pem, point, err);
    text_fini(&subscription.endpoint);
    if (!ok || !text_str(out, "vapid t=") ||
            !jwt_sign(JWS_ES256, key_pem, "{\"typ\":\"JWT\",\"alg\":\"ES256\"}", text_cstr(&claims),
                    out, err))
        return false;
    return (text_str(out, ", k=") && compose_base64url(out, (struct slice){point, 65})) ||
           err_set(err, ERR_FATAL, "the token is too long");
}

bool webpush_sign(const struct provider *provider, const struct content *content, int64_t now_s,
        struct http_request *request, struct err *err)
{
    AUTO_TEXT struct text value = {0};
    text_init(&value, 8192);
    return webpush_token(
                   provider->password.value, provider->subject, content->to, now_s, &value, err) &&
           http_head_add(request, "Authorization", text_slice(&value), err);
}
