// handshake_parts.h: what the handshakes share; each answers one provider's question.
#pragma once
#include "receiver/verify/handshake.h"
#include "receiver/verify/mac.h"

#define TEXT_PLAIN "text/plain; charset=utf-8"
#define JSON_TYPE "application/json"

struct asked {
    const struct source *source;
    const struct verify_request *request;
    struct greeting *greeting;
};

void greet_refuse(struct greeting *greeting, enum greeting_kind kind, enum verify_reason reason);
void greet_malformed(struct greeting *greeting);
void greet_with(struct greeting *greeting, int status, const char *content_type);
bool greet_echo_ok(struct slice text, size_t max); // 1..max bytes of printable ASCII
void greet_echo(struct greeting *greeting, struct slice challenge); // as text, or malformed
// The policy's handshake token is there and the one that was named; else it is refused here.
bool greet_token_ok(const struct asked *asked, struct slice named);
MUST_CHECK bool greet_add_mac(struct greeting *greeting, enum scheme_encoding encoding,
        struct slice key, struct slice text, enum scheme_algorithm algorithm);

// handshake_signed.c: what must be signed; left alone when it is not.
void answer_slack(const struct asked *asked);
void answer_zoom(const struct asked *asked);
void answer_discord(const struct asked *asked);

// handshake_open.c: questions in the query or a header, which nobody signed.
void answer_meta(const struct asked *asked);
void answer_x(const struct asked *asked);
void answer_dropbox(const struct asked *asked);
void answer_ms_graph(const struct asked *asked);
void answer_braintree(const struct asked *asked);
void answer_asana(const struct asked *asked);
void answer_okta(const struct asked *asked);
void answer_adobe(const struct asked *asked);
void answer_trello(const struct asked *asked);
