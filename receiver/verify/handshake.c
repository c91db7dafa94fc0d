#include "receiver/verify/handshake.h"

#include "common/form.h"
#include "common/json/scan.h"
#include "common/keys.h"
#include "receiver/verify/mac.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>

enum {
    HANDSHAKE_QUERY_MAX = 8192, // bytes of a query that is looked at
    HANDSHAKE_BODY_MAX = 4096,  // of a body
    CHALLENGE_HEX_MIN = 20,     // Braintree's libraries demand 20 to 32 hex digits
    CHALLENGE_HEX_MAX = 32
};

#define TEXT_PLAIN "text/plain; charset=utf-8"
#define JSON_TYPE "application/json"

struct asked {
    const struct source *source;
    const struct verify_request *request;
    struct greeting *greeting;
};

static void refuse(struct greeting *greeting, enum greeting_kind kind, enum verify_reason reason)
{
    greeting->kind = kind;
    greeting->reason = verify_reason_name(reason);
}

static void malformed(struct greeting *greeting)
{
    refuse(greeting, GREETING_MALFORMED, VERIFY_HANDSHAKE_FORM);
}

static void answered(struct greeting *greeting, int status, const char *content_type)
{
    greeting->kind = GREETING_ANSWERED;
    greeting->status = status;
    greeting->content_type = content_type;
}

static bool echo_ok(struct slice text, size_t max)
{
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] < 0x20 || text.ptr[i] > 0x7e)
            return false;
    }
    return text.len >= 1 && text.len <= max;
}

static void echo(struct greeting *greeting, struct slice challenge)
{
    if (!echo_ok(challenge, GREETING_ECHO_MAX) || !text_add(&greeting->body, challenge)) {
        malformed(greeting);
        return;
    }
    answered(greeting, 200, TEXT_PLAIN);
}

// --- The query

static bool query_read(const struct verify_request *request, struct form *ret_form)
{
    struct slice target = request->target;
    const unsigned char *mark = target.len ? memchr(target.ptr, '?', target.len) : NULL;
    if (!mark)
        return false;
    struct slice query = {mark + 1, target.len - (size_t)(mark + 1 - target.ptr)};
    return query.len <= HANDSHAKE_QUERY_MAX && form_parse(query, ret_form, NULL);
}

// A parameter: HEADER_MANY when it stands there twice, since readers differ in which they take.
static enum header_found query_find(
        const struct form *form, const char *name, struct slice *ret_value)
{
    enum header_found found = HEADER_NONE;
    for (size_t i = 0; i < form->n; i++) {
        if (!slice_eq(form->pairs[i].name, slice_of(name)))
            continue;
        if (found != HEADER_NONE)
            return HEADER_MANY;
        found = HEADER_ONE;
        *ret_value = form->pairs[i].value;
    }
    return found;
}

// The one value of a parameter; without it the request is no handshake, with two it is malformed.
static bool query_one(const struct asked *asked, const struct form *form, const char *name,
        struct slice *ret_value)
{
    enum header_found found = query_find(form, name, ret_value);
    if (found == HEADER_MANY)
        malformed(asked->greeting);
    return found == HEADER_ONE;
}

// --- Secrets

static bool same_text(struct slice a, struct slice b)
{
    unsigned char digest_a[32], digest_b[32];
    sha256_of(a, digest_a);
    sha256_of(b, digest_b);
    return CRYPTO_memcmp(digest_a, digest_b, sizeof digest_a) == 0;
}

// The policy's handshake token is there and the one that was named.
static bool token_ok(const struct asked *asked, struct slice named)
{
    struct slice token = asked->source->handshake_token.value;
    if (token.len == 0)
        refuse(asked->greeting, GREETING_UNABLE, VERIFY_HANDSHAKE_UNSET);
    else if (!same_text(token, named))
        refuse(asked->greeting, GREETING_REFUSED, VERIFY_HANDSHAKE_TOKEN);
    else
        return true;
    return false;
}

static const struct secret *secret_to_answer(const struct asked *asked)
{
    const struct secret *secret = secret_first_live(asked->source, asked->request->now_s);
    if (!secret)
        refuse(asked->greeting, GREETING_UNABLE, VERIFY_NO_SECRET);
    return secret;
}

static bool add_mac(struct greeting *greeting, enum scheme_encoding encoding, struct slice key,
        struct slice text, enum scheme_algorithm algorithm)
{
    unsigned char digest[SCHEME_DIGEST_MAX];
    return mac_of(algorithm, key, &text, 1, digest) &&
           encoding_encode(encoding, (struct slice){digest, mac_size(algorithm)}, &greeting->body);
}

// --- Signed bodies

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
static void answer_slack(const struct asked *asked)
{
    static const char *const pointers[] = {"/type", "/challenge"};
    AUTO_TEXT struct text challenge = {.len = 0};
    if (signed_challenge(asked, "url_verification", pointers, &challenge) >= 0)
        echo(asked->greeting, text_slice(&challenge));
}

// https://developers.zoom.us/docs/api/webhooks/#validate-your-webhook-endpoint: at once, and again
// every 72 hours.
static void answer_zoom(const struct asked *asked)
{
    static const char *const pointers[] = {"/event", "/payload/plainToken"};
    AUTO_TEXT struct text plain = {.len = 0};
    int index = signed_challenge(asked, "endpoint.url_validation", pointers, &plain);
    if (index < 0)
        return;
    struct slice token = text_slice(&plain);
    struct greeting *greeting = asked->greeting;
    if (!echo_ok(token, GREETING_ECHO_MAX)) {
        malformed(greeting);
        return;
    }
    text_str(&greeting->body, "{\"plainToken\":");
    json_quote(&greeting->body, token);
    text_str(&greeting->body, ",\"encryptedToken\":\"");
    if (!add_mac(greeting, ENCODING_HEX_LOWER, asked->source->secrets[index].value, token,
                HMAC_SHA256) ||
            !text_str(&greeting->body, "\"}\n"))
        malformed(greeting);
    else
        answered(greeting, 200, JSON_TYPE);
}

// https://discord.com/developers/docs/events/webhook-events: type 0 is the PING of events, whose
// type is 1; an interaction's PING is of type 1 and has no event.
static void answer_discord(const struct asked *asked)
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
    answered(asked->greeting, type == 0 ? 204 : 200, type == 0 ? NULL : JSON_TYPE);
    if (type == 1)
        text_str(&asked->greeting->body, "{\"type\":1}\n");
}

// --- Questions in the query

// https://developers.facebook.com/docs/graph-api/webhooks/getting-started#verification-requests;
// WebSub §5.3 knows no token, and what it confirms could be anybody's subscription.
static void answer_meta(const struct asked *asked)
{
    AUTO_FORM struct form form = {.n = 0};
    struct slice mode, token, challenge;
    if (!query_read(asked->request, &form) || !query_one(asked, &form, "hub.mode", &mode))
        return;
    if (!slice_eq(mode, SLICE("subscribe")) ||
            query_find(&form, "hub.verify_token", &token) != HEADER_ONE ||
            query_find(&form, "hub.challenge", &challenge) != HEADER_ONE)
        malformed(asked->greeting);
    else if (token_ok(asked, token))
        echo(asked->greeting, challenge);
}

// https://developer.x.com/en/docs/x-api/enterprise/account-activity-api/guides/securing-webhooks
static void answer_x(const struct asked *asked)
{
    AUTO_FORM struct form form = {.n = 0};
    struct slice token;
    struct greeting *greeting = asked->greeting;
    if (!query_read(asked->request, &form) || !query_one(asked, &form, "crc_token", &token))
        return;
    const struct secret *secret = secret_to_answer(asked);
    if (!secret)
        return;
    text_str(&greeting->body, "{\"response_token\":\"sha256=");
    if (!echo_ok(token, GREETING_ECHO_MAX) ||
            !add_mac(greeting, ENCODING_BASE64, secret->value, token, HMAC_SHA256) ||
            !text_str(&greeting->body, "\"}\n"))
        malformed(greeting);
    else
        answered(greeting, 200, JSON_TYPE);
}

// https://www.dropbox.com/developers/reference/webhooks: text/plain and nosniff are demanded.
static void answer_dropbox(const struct asked *asked)
{
    AUTO_FORM struct form form = {.n = 0};
    struct slice challenge;
    if (query_read(asked->request, &form) && query_one(asked, &form, "challenge", &challenge))
        echo(asked->greeting, challenge);
}

// https://learn.microsoft.com/graph/change-notifications-delivery-webhooks: decoded, as text/plain,
// and escaped where it could be taken for a script. An event is never without a body.
static void answer_ms_graph(const struct asked *asked)
{
    AUTO_FORM struct form form = {.n = 0};
    struct slice token;
    if (asked->request->body.len == 0 && query_read(asked->request, &form) &&
            query_one(asked, &form, "validationToken", &token))
        echo(asked->greeting, token);
}

static bool is_hex(struct slice text)
{
    for (size_t i = 0; i < text.len; i++) {
        if (!memchr("0123456789abcdef", text.ptr[i], 16))
            return false;
    }
    return text.len >= CHALLENGE_HEX_MIN && text.len <= CHALLENGE_HEX_MAX;
}

// braintree-node lib/braintree/webhook_notification_gateway.js: the public key, which is the
// policy's token, and the HMAC-SHA1 whose key is the SHA-1 of the private one.
static void answer_braintree(const struct asked *asked)
{
    AUTO_FORM struct form form = {.n = 0};
    struct slice challenge, public_key = asked->source->handshake_token.value;
    struct greeting *greeting = asked->greeting;
    if (!query_read(asked->request, &form) || !query_one(asked, &form, "bt_challenge", &challenge))
        return;
    const struct secret *secret = secret_to_answer(asked);
    if (secret && public_key.len == 0)
        refuse(greeting, GREETING_UNABLE, VERIFY_HANDSHAKE_UNSET);
    if (!secret || public_key.len == 0)
        return;
    unsigned char key[EVP_MAX_MD_SIZE];
    unsigned len = 0;
    if (!is_hex(challenge) || !echo_ok(public_key, GREETING_VALUE_MAX) ||
            EVP_Digest(secret->value.ptr, secret->value.len, key, &len, EVP_sha1(), NULL) != 1 ||
            !text_add(&greeting->body, public_key) || !text_char(&greeting->body, '|') ||
            !add_mac(greeting, ENCODING_HEX_LOWER, (struct slice){key, len}, challenge, HMAC_SHA1))
        malformed(greeting);
    else
        answered(greeting, 200, TEXT_PLAIN);
    OPENSSL_cleanse(key, sizeof key);
}

// --- Questions in a header

// A header that is there once; twice is malformed.
static bool header_asked(const struct asked *asked, const char *name, struct slice *ret_value)
{
    enum header_found found = header_find(asked->request, name, ret_value);
    if (found == HEADER_MANY)
        malformed(asked->greeting);
    return found == HEADER_ONE;
}

static void echo_header(struct greeting *greeting, const char *name, struct slice value)
{
    if (!echo_ok(value, GREETING_VALUE_MAX) || !text_add(&greeting->value, value)) {
        malformed(greeting);
        return;
    }
    greeting->header = name;
    answered(greeting, 200, NULL);
}

// https://developers.asana.com/docs/webhooks-guide: unsigned, since the secret is only now agreed
// on. Who created the webhook reads it in the API's answer; here it is sent back and let go.
static void answer_asana(const struct asked *asked)
{
    struct slice secret, signature;
    if (header_find(asked->request, "X-Hook-Signature", &signature) != HEADER_NONE ||
            !header_asked(asked, "X-Hook-Secret", &secret))
        return;
    echo_header(asked->greeting, "x-hook-secret", secret);
    asked->greeting->offers_secret = asked->greeting->kind == GREETING_ANSWERED;
}

// https://developer.okta.com/docs/concepts/event-hooks/#one-time-verification-request
static void answer_okta(const struct asked *asked)
{
    struct slice challenge;
    struct greeting *greeting = asked->greeting;
    if (!header_asked(asked, "X-Okta-Verification-Challenge", &challenge))
        return;
    text_str(&greeting->body, "{\"verification\":");
    if (!echo_ok(challenge, GREETING_ECHO_MAX) || !json_quote(&greeting->body, challenge) ||
            !text_str(&greeting->body, "}\n"))
        malformed(greeting);
    else
        answered(greeting, 200, JSON_TYPE);
}

// https://opensource.adobe.com/acrobat-sign/acrobat_sign_events/webhookeventspayload.html: the id
// of our own application, so another one is not answered.
static void answer_adobe(const struct asked *asked)
{
    struct slice client;
    if (header_asked(asked, "X-AdobeSign-ClientId", &client) && token_ok(asked, client))
        echo_header(asked->greeting, "x-adobesign-clientid", client);
}

// https://developer.atlassian.com/cloud/trello/guides/rest-api/webhooks/
static void answer_trello(const struct asked *asked)
{
    answered(asked->greeting, 200, NULL);
}

// --- The table

enum { BY_GET = 1, BY_HEAD = 2, BY_POST = 4 };

static const struct handshake {
    const char *name; // in the policy and the log
    unsigned methods;
    void (*answer)(const struct asked *asked);
    bool token; // needs the policy's
    const char *words;
} handshakes[] = {
        [HANDSHAKE_SLACK] = {"slack", BY_POST, answer_slack, false,
                "a signed POST of type url_verification: its challenge comes back as text"},
        [HANDSHAKE_ZOOM] = {"zoom", BY_POST, answer_zoom, false,
                "a signed POST of event endpoint.url_validation: plainToken and its HMAC come "
                "back; again every 72 h"},
        [HANDSHAKE_META] = {"meta", BY_GET, answer_meta, true,
                "GET hub.mode=subscribe: hub.challenge comes back when hub.verify_token is the "
                "policy's handshake token"},
        [HANDSHAKE_X] = {"x", BY_GET, answer_x, false, "GET crc_token: its HMAC comes back"},
        [HANDSHAKE_DROPBOX] = {"dropbox", BY_GET, answer_dropbox, false,
                "GET challenge: it comes back as text"},
        [HANDSHAKE_MS_GRAPH] = {"ms-graph", BY_POST, answer_ms_graph, false,
                "POST validationToken without a body: it comes back as text"},
        [HANDSHAKE_SNS] = {"aws-sns", 0, NULL, false,
                "a signed SubscriptionConfirmation: confirmed by a URL of its own making"},
        [HANDSHAKE_DISCORD] = {"discord", BY_POST, answer_discord, false,
                "a signed PING: 204 for events, {\"type\":1} for interactions"},
        [HANDSHAKE_BRAINTREE] = {"braintree", BY_GET, answer_braintree, true,
                "GET bt_challenge: the public key, which is the policy's handshake token, and its "
                "HMAC come back"},
        [HANDSHAKE_ASANA] = {"asana", BY_POST, answer_asana, false,
                "POST with X-Hook-Secret: the header comes back; the secret is in the API's "
                "answer to who created the webhook"},
        [HANDSHAKE_OKTA] = {"okta", BY_GET, answer_okta, false,
                "GET with X-Okta-Verification-Challenge: it comes back as JSON"},
        [HANDSHAKE_TRELLO] = {"trello", BY_HEAD, answer_trello, false, "HEAD: 200"},
        [HANDSHAKE_ADOBE] = {"adobe", BY_GET, answer_adobe, true,
                "GET with X-AdobeSign-ClientId: it comes back when it is the policy's handshake "
                "token"},
};

static const struct handshake *row_of(enum scheme_handshake handshake)
{
    bool known = (size_t)handshake < ARRAY_LEN(handshakes) && handshakes[handshake].name;
    return known ? &handshakes[handshake] : NULL;
}

const char *handshake_words(enum scheme_handshake handshake)
{
    const struct handshake *row = row_of(handshake);
    return row ? row->words : NULL;
}

enum scheme_handshake handshake_by_name(const char *name)
{
    for (size_t i = 0; name && i < ARRAY_LEN(handshakes); i++) {
        if (handshakes[i].name && strcmp(handshakes[i].name, name) == 0)
            return (enum scheme_handshake)i;
    }
    return HANDSHAKE_NONE;
}

bool handshake_needs_token(const char *scheme)
{
    const struct scheme *row = scheme_row(scheme);
    const struct handshake *handshake = row ? row_of(row->handshake) : NULL;
    return handshake && handshake->token;
}

enum scheme_handshake handshake_of(const struct source *source)
{
    if (source->handshake_answer)
        return handshake_by_name(source->handshake_answer);
    const struct scheme *row = scheme_row(source->scheme);
    return row ? row->handshake : HANDSHAKE_NONE;
}

static unsigned method_bit(struct slice method)
{
    if (slice_eq(method, SLICE("POST")))
        return BY_POST;
    if (slice_eq(method, SLICE("GET")))
        return BY_GET;
    return slice_eq(method, SLICE("HEAD")) ? BY_HEAD : 0;
}

void handshake_answer(const struct source *source, const struct verify_request *request,
        struct greeting *ret_greeting)
{
    const struct handshake *row = row_of(handshake_of(source));
    *ret_greeting = (struct greeting){.kind = GREETING_NONE};
    if (!row || !row->answer || !(row->methods & method_bit(request->method)))
        return;
    ret_greeting->name = row->name;
    text_init(&ret_greeting->body, GREETING_BODY_MAX);
    text_init(&ret_greeting->value, GREETING_VALUE_MAX);
    row->answer(&(struct asked){source, request, ret_greeting});
    if (ret_greeting->kind != GREETING_ANSWERED)
        text_reset(&ret_greeting->body);
}
