// What FCM's replies mean, and its OAuth tokens (RFC 7523).
// The HTTP status alone does not tell: error.details[] carries FCM's own errorCode.
#include "common/json/scan.h"
#include "dispatcher/send/compose.h"
#include "dispatcher/send/jwt.h"
#include "dispatcher/send/push.h"
#include "dispatcher/send/rules.h"

#include <stdio.h>

#define TOKEN_URL "https://oauth2.googleapis.com/token"
#define SCOPE "https://www.googleapis.com/auth/firebase.messaging"
#define TOKEN_LIFE_S 3600
#define DEAD_TOKEN "INVALID_ARGUMENT: token" // our own mark

// First FCM's errorCode, then Google's status where a body has none.
static const struct http_rule rules[] = {
        {200, NULL, ATTEMPT_ACCEPTED, LEVEL_MESSAGE, 0, false},
        {400, DEAD_TOKEN, ATTEMPT_REFUSED, LEVEL_ADDRESS, 0, false},
        {400, "INVALID_ARGUMENT", ATTEMPT_REFUSED, LEVEL_MESSAGE, 0, false},
        {401, "THIRD_PARTY_AUTH_ERROR", ATTEMPT_RETRY, LEVEL_PROVIDER, 0, false},
        {401, "UNAUTHENTICATED", ATTEMPT_RETRY, LEVEL_PROVIDER, 0, true},
        {403, "SENDER_ID_MISMATCH", ATTEMPT_REFUSED, LEVEL_ADDRESS, 0, false},
        {404, "UNREGISTERED", ATTEMPT_REFUSED, LEVEL_ADDRESS, 0, false},
        {429, "QUOTA_EXCEEDED", ATTEMPT_RETRY, LEVEL_PROVIDER, 60, false},
        {500, "INTERNAL", ATTEMPT_RETRY, LEVEL_MESSAGE, 0, false},
        {503, "UNAVAILABLE", ATTEMPT_RETRY, LEVEL_PROVIDER, 0, false},
        {403, "PERMISSION_DENIED", ATTEMPT_RETRY, LEVEL_PROVIDER, 0, false},
        {404, "NOT_FOUND", ATTEMPT_RETRY, LEVEL_PROVIDER, 0, false}, // a project of another name
        {429, NULL, ATTEMPT_RETRY, LEVEL_PROVIDER, 60, false},
        {400, NULL, ATTEMPT_REFUSED, LEVEL_MESSAGE, 0, false},
};

static bool string_is(struct json_token token, const char *text)
{
    AUTO_TEXT struct text plain = {0};
    text_init(&plain, 1024);
    return json_text(token, &plain, NULL) && strcmp(text_cstr(&plain), text) == 0;
}

static bool member(struct json_token object, const char *name, struct json_token *ret_value)
{
    size_t at = 0;
    struct json_token found_name, value;
    while (object.kind == JSON_KIND_OBJECT && json_next(object, &at, &found_name, &value)) {
        if (string_is(found_name, name)) {
            *ret_value = value;
            return true;
        }
    }
    return false;
}

// One of fieldViolations names message.token.
static bool blames_token(struct json_token detail)
{
    struct json_token list, violation, field;
    size_t at = 0;
    if (!member(detail, "fieldViolations", &list) || list.kind != JSON_KIND_ARRAY)
        return false;
    while (json_next(list, &at, NULL, &violation)) {
        if (member(violation, "field", &field) && string_is(field, "message.token"))
            return true;
    }
    return false;
}

struct details {
    bool dead_token, bad_payload;
};

// Walks error.details[]; an errorCode found there goes before Google's status.
static void read_details(struct json_token list, struct http_said *said, struct details *ret)
{
    struct json_token detail, code, violations;
    size_t at = 0;
    while (list.kind == JSON_KIND_ARRAY && json_next(list, &at, NULL, &detail)) {
        AUTO_TEXT struct text word = {0};
        text_init(&word, sizeof said->code - 1);
        if (member(detail, "errorCode", &code) && json_text(code, &word, NULL))
            snprintf(said->code, sizeof said->code, "%s", text_cstr(&word));
        ret->dead_token |= blames_token(detail);
        ret->bad_payload |= member(detail, "fieldViolations", &violations);
    }
}

static void read_error(struct slice body, struct http_said *said)
{
    static const char *const pointer[] = {"/error/details"};
    struct json_result found[1];
    struct details details = {0};
    if (body.len == 0 || !json_find(body, pointer, 1, found, NULL) || found[0].found != JSON_FOUND)
        return;
    read_details(found[0].token, said, &details);
    if (strcmp(said->code, "INVALID_ARGUMENT") == 0 &&
            (details.dead_token ||
                    (!details.bad_payload && strstr(said->text, "registration token"))))
        snprintf(said->code, sizeof said->code, "%s", DEAD_TOKEN);
}

// Apple devices and browsers that have their token of FCM: Android goes without that key.
static const char *const apart[] = {"THIRD_PARTY_AUTH_ERROR"};

void fcm_classify(const struct http_reply *reply, struct attempt_result *result)
{
    static const struct http_where taken = {.id = "/name"},
                                   refused = {.code = "/error/status", .text = "/error/message"};
    struct http_said said;
    http_said_read(reply->body, reply->status / 100 == 2 ? &taken : &refused, &said);
    if (reply->status / 100 != 2)
        read_error(reply->body, &said);
    http_judge(rules, ARRAY_LEN(rules), reply, &said, result);
    http_apart(apart, ARRAY_LEN(apart), &said, result);
}

static bool account_texts(
        struct slice json, struct text texts[3], const char *const pointers[3], struct err *err)
{
    struct json_result found[3];
    if (!json_find(json, pointers, 3, found, NULL))
        return err_set(err, ERR_FATAL, "the provider's key is no service account in JSON");
    for (size_t i = 0; i < 3; i++) {
        text_init(&texts[i], 16384);
        if (found[i].found == JSON_FOUND && !json_text(found[i].token, &texts[i], NULL))
            return err_set(err, ERR_FATAL, "the provider's service account has an unreadable %s",
                    pointers[i] + 1);
    }
    return true;
}

static bool add_assertion(const struct text *email, const struct text *pem, const char *url,
        int64_t now_s, struct text *out, struct err *err)
{
    AUTO_TEXT struct text claims = {0};
    text_init(&claims, 4096);
    if (!text_char(&claims, '{') || !compose_json(&claims, "iss", text_slice(email)) ||
            !compose_json(&claims, "scope", SLICE(SCOPE)) ||
            !compose_json(&claims, "aud", slice_of(url)) ||
            !compose_json_int(&claims, "iat", now_s) ||
            !compose_json_int(&claims, "exp", now_s + TOKEN_LIFE_S) || !text_char(&claims, '}'))
        return err_set(err, ERR_FATAL, "the provider's service account is too long");
    return jwt_sign(JWS_RS256, text_slice(pem), "{\"alg\":\"RS256\",\"typ\":\"JWT\"}",
            text_cstr(&claims), out, err);
}

static bool build_token_request(
        struct text texts[3], int64_t now_s, struct http_request *request, struct err *err)
{
    static const char *const pointers[] = {"/client_email", "/private_key", "/token_uri"};
    const char *url = texts[2].len ? text_cstr(&texts[2]) : TOKEN_URL;
    if (texts[0].len == 0 || texts[1].len == 0)
        return err_set(err, ERR_FATAL, "the provider's service account has no %s",
                pointers[texts[0].len > 0] + 1);
    if (!http_request_begin(request, url, "", err) ||
            !http_head_add(
                    request, "Content-Type", SLICE("application/x-www-form-urlencoded"), err))
        return false;
    bool ok = text_str(&request->body,
            "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion=");
    return (ok || err_set(err, ERR_FATAL, "the request is too long")) &&
           add_assertion(&texts[0], &texts[1], url, now_s, &request->body, err);
}

bool fcm_token_build(
        struct slice account_json, int64_t now_s, struct http_request *ret_request, struct err *err)
{
    static const char *const pointers[] = {"/client_email", "/private_key", "/token_uri"};
    struct text texts[3] = {{0}};
    AUTO_HTTP_REQUEST struct http_request request = {0};
    bool ok = account_texts(account_json, texts, pointers, err) &&
              build_token_request(texts, now_s, &request, err);
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        if (texts[i].ptr)
            explicit_bzero(texts[i].ptr, texts[i].room);
        text_fini(&texts[i]);
    }
    if (!ok)
        return false;
    *ret_request = request;
    request = (struct http_request){0};
    return true;
}

bool fcm_token_read(
        const struct http_reply *reply, struct text *token, int64_t *ret_life_s, struct err *err)
{
    static const char *const pointers[] = {"/access_token", "/expires_in"};
    struct json_result found[2];
    int64_t life_s = 0;
    if (reply->end != HTTP_REPLIED || reply->status != 200)
        return err_set(err, ERR_TEMP, "no token from the provider: status %d", reply->status);
    if (!json_find(reply->body, pointers, 2, found, NULL) || found[0].found != JSON_FOUND ||
            found[1].found != JSON_FOUND || !json_int64(found[1].token, &life_s, NULL) ||
            life_s <= 0 || !json_text(found[0].token, token, NULL))
        return err_set(err, ERR_TEMP, "the provider's answer has no token in it");
    *ret_life_s = life_s;
    return true;
}
