// greeting.h: how a provider's question whether somebody is there is answered (docs/schemes.md).
//
// receiver/verify makes it, receiver/http sends it. It makes no event and asks no database.
#pragma once
#include "common/text.h"

enum greeting_kind {
    GREETING_NONE,      // the request is no such question: it goes on as any other
    GREETING_ANSWERED,  // as the fields below say
    GREETING_REFUSED,   // 401: it names another token than the policy's
    GREETING_MALFORMED, // 400
    GREETING_UNABLE,    // 503: nothing to answer it with
};

enum {
    GREETING_ECHO_MAX = 1024, // bytes of a challenge that is sent back
    GREETING_BODY_MAX = 4 * GREETING_ECHO_MAX,
    GREETING_VALUE_MAX = 255 // of a header that is sent back
};

struct greeting {
    enum greeting_kind kind;
    const char *name;         // which handshake, static
    const char *reason;       // unless answered: fixed text for log and metric
    int status;               // 200 or 204
    const char *content_type; // static; NULL = no body
    struct text body;         // printable ASCII
    const char *header;       // name of a header to send, static; NULL = none
    struct text value;        // its value, printable ASCII
    bool offers_secret;       // the request carries the secret that later ones are signed with
};

static inline void greeting_fini(struct greeting *greeting)
{
    text_fini(&greeting->body);
    text_fini(&greeting->value);
}
#define AUTO_GREETING __attribute__((cleanup(greeting_fini)))
