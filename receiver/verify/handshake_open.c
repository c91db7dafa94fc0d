#include "common/form.h"
#include "common/json/scan.h"
#include "receiver/verify/handshake_parts.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>

enum {
    HANDSHAKE_QUERY_MAX = 8192, // bytes of a query that is looked at
    CHALLENGE_HEX_MIN = 20,     // Braintree's libraries demand 20 to 32 hex digits
    CHALLENGE_HEX_MAX = 32
};

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
        greet_malformed(asked->greeting);
    return found == HEADER_ONE;
}

static const struct secret *secret_to_answer(const struct asked *asked)
{
    const struct secret *secret = secret_first_live(asked->source, asked->request->now_s);
    if (!secret)
        greet_refuse(asked->greeting, GREETING_UNABLE, VERIFY_NO_SECRET);
    return secret;
}

// --- Questions in the query

// https://developers.facebook.com/docs/graph-api/webhooks/getting-started#verification-requests;
// WebSub §5.3 knows no token, and what it confirms could be anybody's subscription.
void answer_meta(const struct asked *asked)
{
    AUTO_FORM struct form form = {.n = 0};
    struct slice mode, token, challenge;
    if (!query_read(asked->request, &form) || !query_one(asked, &form, "hub.mode", &mode))
        return;
    if (!slice_eq(mode, SLICE("subscribe")) ||
            query_find(&form, "hub.verify_token", &token) != HEADER_ONE ||
            query_find(&form, "hub.challenge", &challenge) != HEADER_ONE)
        greet_malformed(asked->greeting);
    else if (greet_token_ok(asked, token))
        greet_echo(asked->greeting, challenge);
}

// What is signed of X's question looks as an event's signature does, so a token must not look as an
// event: no brace, no quote, no blank.
static bool is_x_token(unsigned char c)
{
    return (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') ||
           (c && strchr("+/=-_.~", c));
}

static bool is_hex_digit(unsigned char c)
{
    return c && strchr("0123456789abcdef", c);
}

// Bytes over all pieces, when each is of the kind; 0 = one is not.
static size_t length_of(
        const struct slice pieces[], size_t n_pieces, bool (*is_of_kind)(unsigned char))
{
    size_t len = 0;
    for (size_t i = 0; i < n_pieces; i++) {
        for (size_t j = 0; j < pieces[i].len; j++, len++) {
            if (!is_of_kind(pieces[i].ptr[j]))
                return 0;
        }
    }
    return len;
}

static bool is_x_challenge(const struct slice pieces[], size_t n_pieces)
{
    size_t len = length_of(pieces, n_pieces, is_x_token);
    return len >= 1 && len <= GREETING_ECHO_MAX;
}

static bool is_braintree_challenge(const struct slice pieces[], size_t n_pieces)
{
    size_t len = length_of(pieces, n_pieces, is_hex_digit);
    return len >= CHALLENGE_HEX_MIN && len <= CHALLENGE_HEX_MAX;
}

bool handshake_signs(const struct source *source, const struct slice pieces[], size_t n_pieces)
{
    enum scheme_handshake handshake = handshake_of(source);
    if (handshake == HANDSHAKE_X)
        return is_x_challenge(pieces, n_pieces);
    return handshake == HANDSHAKE_BRAINTREE && is_braintree_challenge(pieces, n_pieces);
}

// https://developer.x.com/en/docs/x-api/enterprise/account-activity-api/guides/securing-webhooks
void answer_x(const struct asked *asked)
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
    if (!is_x_challenge(&token, 1) ||
            !greet_add_mac(greeting, ENCODING_BASE64, secret->value, token, HMAC_SHA256) ||
            !text_str(&greeting->body, "\"}\n"))
        greet_malformed(greeting);
    else
        greet_with(greeting, 200, JSON_TYPE);
}

// https://www.dropbox.com/developers/reference/webhooks: text/plain and nosniff are demanded.
void answer_dropbox(const struct asked *asked)
{
    AUTO_FORM struct form form = {.n = 0};
    struct slice challenge;
    if (query_read(asked->request, &form) && query_one(asked, &form, "challenge", &challenge))
        greet_echo(asked->greeting, challenge);
}

// https://learn.microsoft.com/graph/change-notifications-delivery-webhooks: decoded, as text/plain,
// and escaped where it could be taken for a script. An event is never without a body.
void answer_ms_graph(const struct asked *asked)
{
    AUTO_FORM struct form form = {.n = 0};
    struct slice token;
    if (asked->request->body.len == 0 && query_read(asked->request, &form) &&
            query_one(asked, &form, "validationToken", &token))
        greet_echo(asked->greeting, token);
}

// braintree-node lib/braintree/webhook_notification_gateway.js: the public key, which is the
// policy's token, and the HMAC-SHA1 whose key is the SHA-1 of the private one.
void answer_braintree(const struct asked *asked)
{
    AUTO_FORM struct form form = {.n = 0};
    struct slice challenge, public_key = asked->source->handshake_token.value;
    struct greeting *greeting = asked->greeting;
    if (!query_read(asked->request, &form) || !query_one(asked, &form, "bt_challenge", &challenge))
        return;
    const struct secret *secret = secret_to_answer(asked);
    if (secret && public_key.len == 0)
        greet_refuse(greeting, GREETING_UNABLE, VERIFY_HANDSHAKE_UNSET);
    if (!secret || public_key.len == 0)
        return;
    unsigned char key[EVP_MAX_MD_SIZE];
    unsigned len = 0;
    if (!is_braintree_challenge(&challenge, 1) || !greet_echo_ok(public_key, GREETING_VALUE_MAX) ||
            EVP_Digest(secret->value.ptr, secret->value.len, key, &len, EVP_sha1(), NULL) != 1 ||
            !text_add(&greeting->body, public_key) || !text_char(&greeting->body, '|') ||
            !greet_add_mac(
                    greeting, ENCODING_HEX_LOWER, (struct slice){key, len}, challenge, HMAC_SHA1))
        greet_malformed(greeting);
    else
        greet_with(greeting, 200, TEXT_PLAIN);
    OPENSSL_cleanse(key, sizeof key);
}

// --- Questions in a header

// A header that is there once; twice is malformed.
static bool header_asked(const struct asked *asked, const char *name, struct slice *ret_value)
{
    enum header_found found = header_find(asked->request, name, ret_value);
    if (found == HEADER_MANY)
        greet_malformed(asked->greeting);
    return found == HEADER_ONE;
}

static void echo_header(struct greeting *greeting, const char *name, struct slice value)
{
    if (!greet_echo_ok(value, GREETING_VALUE_MAX) || !text_add(&greeting->value, value)) {
        greet_malformed(greeting);
        return;
    }
    greeting->header = name;
    greet_with(greeting, 200, NULL);
}

// https://developers.asana.com/docs/webhooks-guide: unsigned, since the secret is only now agreed
// on. Who created the webhook reads it in the API's answer; here it is sent back and let go.
void answer_asana(const struct asked *asked)
{
    struct slice secret, signature;
    if (header_find(asked->request, "X-Hook-Signature", &signature) != HEADER_NONE ||
            !header_asked(asked, "X-Hook-Secret", &secret))
        return;
    echo_header(asked->greeting, "x-hook-secret", secret);
    asked->greeting->offers_secret = asked->greeting->kind == GREETING_ANSWERED;
}

// https://developer.okta.com/docs/concepts/event-hooks/#one-time-verification-request
void answer_okta(const struct asked *asked)
{
    struct slice challenge;
    struct greeting *greeting = asked->greeting;
    if (!header_asked(asked, "X-Okta-Verification-Challenge", &challenge))
        return;
    text_str(&greeting->body, "{\"verification\":");
    if (!greet_echo_ok(challenge, GREETING_ECHO_MAX) || !json_quote(&greeting->body, challenge) ||
            !text_str(&greeting->body, "}\n"))
        greet_malformed(greeting);
    else
        greet_with(greeting, 200, JSON_TYPE);
}

// https://opensource.adobe.com/acrobat-sign/acrobat_sign_events/webhookeventspayload.html: the id
// of our own application, so another one is not answered.
void answer_adobe(const struct asked *asked)
{
    struct slice client;
    bool ours = verify_request(asked->source, asked->request).reason == VERIFY_OK;
    if (header_asked(asked, "X-AdobeSign-ClientId", &client) &&
            (ours || greet_token_ok(asked, client)))
        echo_header(asked->greeting, "x-adobesign-clientid", client);
}

// https://developer.atlassian.com/cloud/trello/guides/rest-api/webhooks/
void answer_trello(const struct asked *asked)
{
    greet_with(asked->greeting, 200, NULL);
}
