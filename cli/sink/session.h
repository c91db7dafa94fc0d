// session.h: one SMTP conversation of the sink: bytes in, replies out; knows no socket.
#pragma once
#include "cli/sink/sink.h"
#include "common/text.h"

struct session {
    struct text in;  // what is not read yet
    struct text out; // replies to send
    struct text mail;
    char recipients[SINK_RECIPIENTS][256];
    size_t n_recipients;
    char kept_as[32]; // set by store
    bool has_sender, in_data, too_long, quit;
};

// Called for a whole mail before it is acknowledged; false = 451.
struct session_store {
    bool (*store)(void *ctx, struct session *session);
    void *ctx;
};

void session_init(struct session *session); // greets
void session_fini(struct session *session);
// Takes further bytes of the client; false when the conversation is to be ended.
MUST_CHECK bool session_feed(
        struct session *session, struct slice bytes, const struct session_store *store);
