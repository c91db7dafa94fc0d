// stages.h: a request in borrowed bytes, and what the HTTP stage needs of the others.
//
// The stages know nothing of one another: main fills in these functions.
#pragma once
#include "receiver/arrival.h"
#include "receiver/greeting.h"

struct received_header {
    struct slice name, value;
};

// Valid only during the call. No h2o type: body and headers are the connection's own bytes.
struct received {
    struct slice method, target;
    const struct received_header *headers;
    size_t n_headers;
    struct slice body; // as it was sent
    size_t body_max;   // bytes it may have with its Content-Encoding undone; 0 = not said
    int64_t now_s;
};

enum verdict_kind {
    VERDICT_OK,
    VERDICT_REFUSED,   // 401
    VERDICT_NO_KEY,    // app: verified, but without a usable Idempotency-Key
    VERDICT_NO_SECRET, // 503: nothing to verify with
    VERDICT_KEY_AWAY,  // 503: the provider's key is not there yet
};

// How the provider of a source wants to be answered.
enum reply_style {
    STYLE_DEFAULT,      // 200 with a short JSON body; 401
    STYLE_EMPTY,        // 200 without a body
    STYLE_NO_CONTENT,   // 204
    STYLE_ACCEPTED,     // 200 "[accepted]"
    STYLE_CLIENT_ID,    // as the default, and the request's own x-adobesign-clientid comes back
    STYLE_UNSUBSCRIBED, // 200 with a line of text: of no provider, a recipient unsubscribes
    STYLE_REFUSE_498,   // as the default, and 498 in place of 401
};

struct verdict {
    enum verdict_kind kind;
    enum reply_style style;
    const char *reason; // fixed text for log and metric
    int secret_index;   // into source->secrets; -1 = none
    bool app;           // the sender is told the outcome
    // What the scheme's headers say of the event; borrowed from the request, empty = nothing.
    struct slice id, type;
    bool has_once;          // where the id is not signed and what is signed is not the body:
    unsigned char once[32]; // the sha256 of what must come only once
};

// A request to a known source that its signature, time or headers did not let in.
struct refused {
    const struct source *source;
    const struct received *received;
    const char *reason; // static
    const char *peer;   // address of the connection, "" = not known
};

struct stages {
    // The policy in use, as a reference; NULL before the first load.
    struct policy *(*policy)(void *user);
    struct verdict (*verify)(const struct source *source, const struct received *received);
    // Answers the provider's question whether somebody is there, before anything is verified; what
    // must be signed is verified in it. ret_greeting: greeting_fini(). May be NULL.
    void (*greet)(const struct source *source, const struct received *received,
            struct greeting *ret_greeting);
    // Hands an arrival over to the accept thread of this loop. False: it stays the caller's, and
    // *ret_full tells whether too many wait (else the database is away). What was taken comes back
    // through server_hand_back().
    bool (*submit)(void *user, int lane, struct arrival *arrival, bool *ret_full);
    // Of each request that verify did not find authentic, before it is answered; quick. May be
    // NULL.
    void (*refused)(void *user, const struct refused *refused);
    void *user;
};
