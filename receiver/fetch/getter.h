// getter.h: one guarded GET: https only, no redirect, a public address, a bounded body, in
// bounded time. getter.c is the only home of libcurl in the receiver.
#pragma once
#include "common/err.h"
#include "common/text.h"
#include <stdatomic.h>

enum {
    GETTER_BODY_MAX = 65536,
    GETTER_CHAIN_MAX = 65536,
    GETTER_TIME_MS = 5000,
    GETTER_CONNECT_MS = 3000,
};

struct getter_options {
    const char *ca; // file with the trusted CAs; NULL = the system's
    // "host=address:port": where a host is reached instead of asking DNS, private or not. The name
    // that the certificate must have stays the URL's.
    char *const *connect;
    size_t n_connect;
    const atomic_bool *stopping; // ends a transfer under way; may be NULL
};

struct getter;
MUST_CHECK struct getter *getter_new(const struct getter_options *options, struct err *err);
void getter_free(struct getter *getter); // NULL is fine

// How a GET ended; fixed words for the metric.
enum getter_end {
    GETTER_OK,
    GETTER_UNREACHABLE, // no name, no connection, no TLS, no answer in time
    GETTER_ADDRESS,     // its address is none that may be asked
    GETTER_REDIRECT,
    GETTER_STATUS, // anything but 200
    GETTER_TOO_LARGE,
    GETTER_END_COUNT
};
const char *getter_end_name(enum getter_end end);

struct getter_reply {
    struct text body;
    struct text chain; // the server's own certificates, PEM
    int status;        // 0 = none
};
void getter_reply_fini(struct getter_reply *reply);
#define AUTO_REPLY __attribute__((cleanup(getter_reply_fini)))

// Blocks for at most GETTER_TIME_MS. Fills reply (zeroed before); err says why it was not OK.
enum getter_end getter_get(
        struct getter *getter, const char *url, struct getter_reply *reply, struct err *err);
