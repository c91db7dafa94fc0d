// transport.h: one guarded GET: https only, no redirect, a public address, a bounded body, in
// bounded time. transport.c is the only home of libcurl in the receiver.
#pragma once
#include "common/err.h"
#include "common/text.h"
#include <stdatomic.h>

enum {
    TRANSPORT_BODY_MAX = 65536,
    TRANSPORT_CHAIN_MAX = 65536,
    TRANSPORT_TIME_MS = 5000,
    TRANSPORT_CONNECT_MS = 3000,
};

struct transport_options {
    const char *ca; // file with the trusted CAs; NULL = the system's
    // "host=address:port": where a host is reached instead of asking DNS, private or not. The name
    // that the certificate must have stays the URL's.
    char *const *connect;
    size_t n_connect;
    const atomic_bool *stopping; // ends a transfer under way; may be NULL
};

struct transport;
MUST_CHECK struct transport *transport_new(
        const struct transport_options *options, struct err *err);
void transport_free(struct transport *transport); // NULL is fine

// How a GET ended; fixed words for the metric.
enum transport_end {
    TRANSPORT_OK,
    TRANSPORT_UNREACHABLE, // no name, no connection, no TLS, no answer in time
    TRANSPORT_ADDRESS,     // its address is none that may be asked
    TRANSPORT_REDIRECT,
    TRANSPORT_STATUS, // anything but 200
    TRANSPORT_TOO_LARGE,
    TRANSPORT_END_COUNT
};
const char *transport_end_name(enum transport_end end);

struct transport_reply {
    struct text body;
    struct text chain; // the server's own certificates, PEM
    int status;        // 0 = none
};
void transport_reply_fini(struct transport_reply *reply);
#define AUTO_REPLY __attribute__((cleanup(transport_reply_fini)))

// Blocks for at most TRANSPORT_TIME_MS. Fills reply (zeroed before); err says why it was not OK.
enum transport_end transport_get(struct transport *transport, const char *url,
        struct transport_reply *reply, struct err *err);
