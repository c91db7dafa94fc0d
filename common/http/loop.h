// loop.h: one h2o loop: listeners, a bound on connections, one handler for every request, drain.
//
// HTTP/1.1 only (rapid reset is unpatched in libh2o 2.2.5). A loop belongs to the thread that runs
// it; only http_loop_wake() and http_loop_turned_ms() may be called from others. A request whose
// head or body takes longer than 10 s is cut without an answer (h2o's own rule). What h2o itself
// answers to a head it could read (400, 413, 417) is problem+json too; a head that is no HTTP gets
// its fixed text/plain 400.
#pragma once
#include "common/err.h"

#include <h2o.h>

#define HTTP_LISTENERS_MAX 16
#define HTTP_REQUEST_TIMEOUT_MS 10000

struct http_loop;

struct http_loop_options {
    const int *fds; // listening sockets; the loop works on duplicates of its own
    size_t n_fds;
    // More than this wait in the kernel's backlog. While some do, connections that have had nothing
    // to do for 200 ms are closed, the oldest first, and answers say "Connection: close". When none
    // of those is left, the one goes that has been longest at its body, for a second at least.
    int connections;
    size_t body_max; // bytes; above it h2o answers 413
    // Answers now, or later: then the request lives until it is answered or its client is gone,
    // which only the request's pool tells (a shared allocation with a destructor).
    void (*on_request)(void *user, h2o_req_t *req);
    void *user;
};

MUST_CHECK struct http_loop *http_loop_new(
        const struct http_loop_options *options, struct err *err);
void http_loop_free(struct http_loop *loop); // NULL is fine; its thread has ended

// One turn: waits at most wait_ms for something to do.
void http_loop_turn(struct http_loop *loop, int wait_ms);
// When the last turn ended (clock_mono_ms); any thread.
int64_t http_loop_turned_ms(const struct http_loop *loop);
// Ends the wait of the turn under way; any thread.
void http_loop_wake(struct http_loop *loop);

// Stops accepting; answers from now on say "Connection: close"; idle connections are closed. Call
// it again each turn until http_loop_connections() is 0 or patience ends.
void http_loop_drain(struct http_loop *loop);
// When it has ended: h2o closes what is still open in the next turns. They have to be the loop's
// own thread's, whose memory the connections' buffers are.
void http_loop_cut(struct http_loop *loop);
int http_loop_connections(const struct http_loop *loop);

h2o_context_t *http_loop_context(struct http_loop *loop);

// A whole answer; body is copied. Extra headers are added to req->res.headers before. HEAD sends no
// body.
struct http_reply {
    int status;
    const char *reason, *content_type; // content_type NULL = the answer has no body
    struct slice body;
    bool close; // the connection ends with this answer
};
void http_reply(h2o_req_t *req, const struct http_reply *reply);

// Adds one header to the answer; both strings must outlive it.
void http_reply_header(h2o_req_t *req, const char *name, const char *value);
