// Vonage's Messages API, channel sms. client_ref comes back in every status webhook.
// Sources: https://developer.vonage.com/en/api/messages-olympus, /en/api-errors/messages
#include "common/json/scan.h"
#include "dispatcher/send/compose.h"
#include "dispatcher/send/jwt.h"
#include "dispatcher/send/rules.h"
#include "dispatcher/send/sms.h"

#define TOKEN_LIFE_S 3600
#define TTL_MIN_S 20
#define TTL_MAX_S 604800

// It takes numbers without '+'.
static struct slice bare(struct slice number)
{
    bool plus = number.len && number.ptr[0] == '+';
    return (struct slice){number.ptr + plus, number.len - plus};
}

static bool add_ttl(struct text *body, int64_t left_s)
{
    int64_t ttl = left_s < TTL_MIN_S ? TTL_MIN_S : left_s > TTL_MAX_S ? TTL_MAX_S : left_s;
    return left_s <= 0 || compose_json_int(body, "ttl", ttl);
}

bool vonage_build(const struct content *content, const struct provider *provider,
        const char *key_hex, struct http_request *ret_request, enum failure_level *ret_level,
        struct err *err)
{
    struct sms sms;
    AUTO_HTTP_REQUEST struct http_request request = {0};
    if (!sms_check(content, &sms, ret_level, err))
        return false;
    *ret_level = LEVEL_PROVIDER;
    const char *base = provider->url ? provider->url : "https://api.nexmo.com";
    if (!http_request_begin(&request, base, "/v1/messages", err) ||
            !http_head_add(&request, "Content-Type", SLICE("application/json"), err) ||
            !http_head_add(&request, "Accept", SLICE("application/json"), err))
        return false;
    struct text *body = &request.body;
    if (!text_str(body, "{\"message_type\":\"text\",\"channel\":\"sms\"") ||
            !compose_json(body, "from", bare(sms.from)) ||
            !compose_json(body, "to", bare(sms.to)) || !compose_json(body, "text", sms.text) ||
            !compose_json(body, "client_ref", slice_of(key_hex)) ||
            !add_ttl(body, content->left_s) ||
            !sms_callback(provider, content, key_hex, compose_json, "webhook_url", body) ||
            !text_char(body, '}'))
        return err_set(err, ERR_FATAL, "the provider's callback is too long");
    *ret_request = request;
    request = (struct http_request){0};
    return true;
}

static const struct http_rule rules[] = {
        {202, NULL, ATTEMPT_ACCEPTED, LEVEL_MESSAGE, 0, false},
        {0, "1000", ATTEMPT_RETRY, LEVEL_PROVIDER, 1, false},  // throttled
        {0, "1010", ATTEMPT_REFUSED, LEVEL_MESSAGE, 0, false}, // a parameter is missing
        {0, "1020", ATTEMPT_REFUSED, LEVEL_MESSAGE, 0, false}, // invalid parameters
        {0, "1030", ATTEMPT_UNKNOWN, LEVEL_MESSAGE, 0, false}, // internal
        {0, "1040", ATTEMPT_REFUSED, LEVEL_MESSAGE, 0, false}, // invalid message
        {0, "1050", ATTEMPT_REFUSED, LEVEL_ADDRESS, 0, false}, // number barred
        {0, "1060", ATTEMPT_RETRY, LEVEL_PROVIDER, 0, false},  // our account barred
        {0, "1070", ATTEMPT_RETRY, LEVEL_PROVIDER, 0, false},  // .. or out of credit
        {0, "1100", ATTEMPT_UNKNOWN, LEVEL_MESSAGE, 0, false}, // communication failed
        {0, "1120", ATTEMPT_RETRY, LEVEL_PROVIDER, 0, false},  // illegal sender
        {0, "1130", ATTEMPT_REFUSED, LEVEL_MESSAGE, 0, false}, // invalid TTL
        {401, NULL, ATTEMPT_RETRY, LEVEL_PROVIDER, 0, true},
        {402, NULL, ATTEMPT_RETRY, LEVEL_PROVIDER, 0, false}, // no credit
        {403, NULL, ATTEMPT_RETRY, LEVEL_PROVIDER, 0, false},
        {400, NULL, ATTEMPT_REFUSED, LEVEL_MESSAGE, 0, false},
        {422, NULL, ATTEMPT_REFUSED, LEVEL_MESSAGE, 0, false},
        {429, NULL, ATTEMPT_RETRY, LEVEL_PROVIDER, 1, false},
};

// An error's type is a URL that ends with "#1020".
static void keep_number(struct http_said *said)
{
    const char *mark = strrchr(said->code, '#');
    size_t len = mark ? strlen(mark + 1) : 0;
    if (mark)
        memmove(said->code, mark + 1, len);
    said->code[len] = '\0';
}

// The rules of the destination forbid this sender; it is none of those that we may send to.
static const char *const apart[] = {"1120", "1160"};

void vonage_classify(const struct http_reply *reply, struct attempt_result *result)
{
    static const struct http_where taken = {.id = "/message_uuid"},
                                   refused = {.code = "/type", .text = "/detail"};
    struct http_said said;
    http_said_read(reply->body, reply->status / 100 == 2 ? &taken : &refused, &said);
    keep_number(&said);
    http_judge(rules, ARRAY_LEN(rules), reply, &said, result);
    http_apart(apart, ARRAY_LEN(apart), &said, result);
}

bool vonage_token(struct slice key_pem, const char *application, const char *jti, int64_t now_s,
        struct text *out, struct err *err)
{
    AUTO_TEXT struct text claims = {0};
    text_init(&claims, 1024);
    if (!text_char(&claims, '{') ||
            !compose_json(&claims, "application_id", slice_of(application)) ||
            !compose_json_int(&claims, "iat", now_s) ||
            !compose_json_int(&claims, "exp", now_s + TOKEN_LIFE_S) ||
            !compose_json(&claims, "jti", slice_of(jti)) || !text_char(&claims, '}'))
        return err_set(err, ERR_FATAL, "the provider's application is too long");
    return jwt_sign(JWS_RS256, key_pem, "{\"alg\":\"RS256\",\"typ\":\"JWT\"}", text_cstr(&claims),
            out, err);
}

bool vonage_sign(const struct provider *provider, const struct content *content, int64_t now_s,
        struct http_request *request, struct err *err)
{
    (void)content;
    char jti[KEY_HEX];
    AUTO_TEXT struct text token = {0};
    text_init(&token, 4096);
    key_hex(key_random(), jti);
    return vonage_token(provider->password.value, provider->account, jti, now_s, &token, err) &&
           http_head_secret(request, "Authorization", "Bearer ", text_slice(&token), err);
}
