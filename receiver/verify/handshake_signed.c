#include "common/json/scan.h"
#include "receiver/verify/handshake_parts.h"

enum { HANDSHAKE_BODY_MAX = 4096 }; // bytes of a body that is looked at

// Values of the body, as text; false unless each is there once.
static bool body_texts(
        struct slice body, const char *const pointers[], size_t n, struct text texts[])
{
    struct json_result found[2];
    if (n > ARRAY_LEN(found) || !json_find(body, pointers, n, found, NULL))
        return false;
    for (size_t i = 0; i < n; i++) {
        text_init(&texts[i], GREETING_ECHO_MAX);
        if (found[i].found != JSON_FOUND || !json_plain(found[i].token, &texts[i], NULL))
            return false;
    }
    return true;
}

static bool body_holds(struct slice body, const char *word)
{
    return body.len && body.len <= HANDSHAKE_BODY_MAX &&
           memmem(body.ptr, body.len, word, strlen(word)) != NULL;
}

// Only what its provider signed is answered: index of the secret, -1 = not authentic.
static int authentic(const struct asked *asked)
{
    struct verify_result result = verify_request(asked->source, asked->request);
    return result.reason == VERIFY_OK ? result.secret_index : -1;
}

// The challenge of a signed body whose member at pointers[0] is `word`, at pointers[1]. Returns the
// index of the secret, -1 = no such handshake, or not authentic.
static int signed_challenge(const struct asked *asked, const char *word,
        const char *const pointers[2], struct text *ret_challenge)
{
    struct text texts[2] = {{.len = 0}};
    int secret = -1;
    if (body_holds(asked->request->body, word) &&
            body_texts(asked->request->body, pointers, 2, texts) &&
            slice_eq(text_slice(&texts[0]), slice_of(word)))
        secret = authentic(asked);
    text_fini(&texts[0]);
    if (secret < 0)
        text_fini(&texts[1]);
    else
        *ret_challenge = texts[1];
    return secret;
}

// https://api.slack.com/events/url_verification
void answer_slack(const struct asked *asked)
{
    static const char *const pointers[] = {"/type", "/challenge"};
    AUTO_TEXT struct text challenge = {.len = 0};
    if (signed_challenge(asked, "url_verification", pointers, &challenge) >= 0)
        greet_echo(asked->greeting, text_slice(&challenge));
}

// https://developers.zoom.us/docs/api/webhooks/#validate-your-webhook-endpoint: at once, and again
// every 72 hours.
void answer_zoom(const struct asked *asked)
{
    static const char *const pointers[] = {"/event", "/payload/plainToken"};
    AUTO_TEXT struct text plain = {.len = 0};
    int index = signed_challenge(asked, "endpoint.url_validation", pointers, &plain);
    if (index < 0)
        return;
    struct slice token = text_slice(&plain);
    struct greeting *greeting = asked->greeting;
    if (!greet_echo_ok(token, GREETING_ECHO_MAX)) {
        greet_malformed(greeting);
        return;
    }
    text_str(&greeting->body, "{\"plainToken\":");
    json_quote(&greeting->body, token);
    text_str(&greeting->body, ",\"encryptedToken\":\"");
    if (!greet_add_mac(greeting, ENCODING_HEX_LOWER, asked->source->secrets[index].value, token,
                HMAC_SHA256) ||
            !text_str(&greeting->body, "\"}\n"))
        greet_malformed(greeting);
    else
        greet_with(greeting, 200, JSON_TYPE);
}

// https://discord.com/developers/docs/events/webhook-events: type 0 is the PING of events, whose
// type is 1; an interaction's PING is of type 1 and has no event.
void answer_discord(const struct asked *asked)
{
    static const char *const pointers[] = {"/type", "/event"};
    struct json_result found[2];
    struct slice body = asked->request->body;
    int64_t type = -1;
    if (body.len > HANDSHAKE_BODY_MAX || !json_find(body, pointers, 2, found, NULL) ||
            found[0].found != JSON_FOUND || found[1].found != JSON_MISSING ||
            !json_int64(found[0].token, &type, NULL) || type < 0 || type > 1 ||
            authentic(asked) < 0)
        return;
    greet_with(asked->greeting, type == 0 ? 204 : 200, type == 0 ? NULL : JSON_TYPE);
    if (type == 1)
        text_str(&asked->greeting->body, "{\"type\":1}\n");
}
