// http_post.h: a small blocking HTTP/1.1 client for this machine's own receiver: plain, host:port.
#pragma once
#include "common/err.h"
#include "common/text.h"

enum { HTTP_ANSWER_MAX = 65536, HTTP_COPIES_MAX = 1000, HTTP_PARALLEL_MAX = 64 };

struct http_target {
    char host[256], port[8];
};
// "http://host:port[/..]" or "host:port"; an address that means all interfaces becomes loopback.
MUST_CHECK bool http_target_of(const char *url, struct http_target *ret_target, struct err *err);

struct http_request {
    const char *method, *path;
    struct slice headers; // further lines, each with \r\n
    struct slice body;
    int timeout_ms; // for the whole exchange
};
struct http_answer {
    int status;   // 0 = none; why says it
    bool reached; // somebody took the connection
    int64_t took_us;
    char why[128];
};

// One exchange on a connection of its own.
void http_exchange(const struct http_target *target, const struct http_request *request,
        struct http_answer *ret_answer);

// As http_exchange; appends what came, headers too, to in (at most its ceiling).
void http_exchange_read(const struct http_target *target, const struct http_request *request,
        struct http_answer *ret_answer, struct text *in);

// The same request n times, parallel at once; answers[n] in the order they were sent.
void http_copies(const struct http_target *target, const struct http_request *request, size_t n,
        size_t parallel, struct http_answer *answers);
