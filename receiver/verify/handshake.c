#include "receiver/verify/handshake.h"

#include "common/keys.h"
#include "common/utf8.h"
#include "receiver/verify/handshake_parts.h"

#include <openssl/crypto.h>

void greet_refuse(struct greeting *greeting, enum greeting_kind kind, enum verify_reason reason)
{
    greeting->kind = kind;
    greeting->reason = verify_reason_name(reason);
}

void greet_malformed(struct greeting *greeting)
{
    greet_refuse(greeting, GREETING_MALFORMED, VERIFY_HANDSHAKE_FORM);
}

void greet_with(struct greeting *greeting, int status, const char *content_type)
{
    greeting->kind = GREETING_ANSWERED;
    greeting->status = status;
    greeting->content_type = content_type;
}

bool greet_echo_ok(struct slice text, size_t max)
{
    return text.len >= 1 && text.len <= max && utf8_is_printable_ascii(text);
}

void greet_echo(struct greeting *greeting, struct slice challenge)
{
    if (!greet_echo_ok(challenge, GREETING_ECHO_MAX) || !text_add(&greeting->body, challenge)) {
        greet_malformed(greeting);
        return;
    }
    greet_with(greeting, 200, TEXT_PLAIN);
}

static bool same_text(struct slice a, struct slice b)
{
    unsigned char digest_a[32], digest_b[32];
    sha256_of(a, digest_a);
    sha256_of(b, digest_b);
    return CRYPTO_memcmp(digest_a, digest_b, sizeof digest_a) == 0;
}

// The policy's handshake token is there and the one that was named.
bool greet_token_ok(const struct asked *asked, struct slice named)
{
    struct slice token = asked->source->handshake_token.value;
    if (token.len == 0)
        greet_refuse(asked->greeting, GREETING_UNABLE, VERIFY_HANDSHAKE_UNSET);
    else if (!same_text(token, named))
        greet_refuse(asked->greeting, GREETING_REFUSED, VERIFY_HANDSHAKE_TOKEN);
    else
        return true;
    return false;
}

bool greet_add_mac(struct greeting *greeting, enum scheme_encoding encoding, struct slice key,
        struct slice text, enum scheme_algorithm algorithm)
{
    unsigned char digest[SCHEME_DIGEST_MAX];
    return mac_of(algorithm, key, &text, 1, digest) &&
           encoding_encode(encoding, (struct slice){digest, mac_size(algorithm)}, &greeting->body);
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
        [HANDSHAKE_ADOBE] = {"adobe", BY_GET, answer_adobe, false,
                "GET with X-AdobeSign-ClientId: it comes back when it is the source's secret or "
                "the "
                "policy's handshake token"},
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
    const struct scheme *row = scheme_row_named(source);
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
