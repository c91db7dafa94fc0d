// http.h: one HTTP request that hands a delivery to a provider, and the reply to it: what drivers
// build and classify, without a socket.
#pragma once
#include "dispatcher/send/inlay.h"

// All that one try needs. Credentials stand in it: it lives as long as the try and is wiped.
struct http_request {
    char *url;        // https://..., or http:// where the provider's settings allow it (loopback)
    struct text head; // header lines "Name: value\r\n"; no control character in a value
    struct text body; // may be empty
    struct inlays inlays;     // files inside body
    unsigned char sha256[32]; // of all of it, where there are inlays and the driver signs
    const char *method;       // NULL = POST
    const char *probe;        // NULL, or the method of a request that changes nothing ("GET")
    bool http2;               // the provider takes HTTP/2 only
    bool strange; // the URL is not of our settings: loopback is a private address like others
    void *reads;  // a driver's own: how the reply is to be read; for free()
};
size_t http_body_size(const struct http_request *request); // inlays included
void http_request_fini(struct http_request *request);      // zeroed is fine; wipes what it frees
#define AUTO_HTTP_REQUEST __attribute__((cleanup(http_request_fini)))

#define HTTP_HEAD_MAX ((size_t)16 << 10)
#define HTTP_BODY_MAX ((size_t)16 << 20)
#define HTTP_URL_MAX 2000

// Begins a zeroed request: base is the provider's `url` setting, or where that is NULL its own
// address; path is appended to it. ERR_FATAL (LEVEL_PROVIDER: the settings forbid it) when it is
// not https://, not http:// to loopback either, or holds what does not belong into a URL.
MUST_CHECK bool http_request_begin(
        struct http_request *request, const char *base, const char *path, struct err *err);
// Appends one header line. ERR_INPUT, and nothing appended, when the name is not a token of
// RFC 9110 5.6.2 or the value holds a control character or is not ASCII.
MUST_CHECK bool http_head_add(
        struct http_request *request, const char *name, struct slice value, struct err *err);
// The same with prefix before the value: "Bearer ".
MUST_CHECK bool http_head_secret(struct http_request *request, const char *name, const char *prefix,
        struct slice value, struct err *err);
// Authorization: Basic.
MUST_CHECK bool http_head_basic(
        struct http_request *request, struct slice user, struct slice password, struct err *err);

// How a try ended without a final status.
enum http_end {
    HTTP_REPLIED,  // .status decides, whatever came after it
    HTTP_NOT_SENT, // surely not taken: no route, no TLS, refused stream, a body with files cut
                   // short
    HTTP_CUT,      // bytes were handed over and no status came: the provider may have taken it
};

struct http_reply {
    enum http_end end;
    int status;        // 0 unless HTTP_REPLIED
    struct slice head; // header lines of the final response, as they came
    struct slice body; // at most HTTP_REPLY_MAX bytes of it
    const char *why;   // the library's words when there is no status, or NULL
    bool barred;       // not sent: where its name leads to is no address that may be connected to
    int64_t now_us;    // wall clock, for Retry-After dates
};
#define LOOK_LIST 20 // messages of one delivery that a search by its key asks for
#define HTTP_REPLY_MAX ((size_t)64 << 10)

// The value of the first header of this name, without the blanks around it.
bool http_head_find(struct slice head, const char *name, struct slice *ret_value);
// Retry-After (RFC 9110 10.2.3), seconds or a date, as milliseconds from now; 0 = not said, not
// readable or past. A day at most.
int64_t http_retry_after_ms(const struct http_reply *reply);
#define HTTP_RETRY_AFTER_MAX_MS (INT64_C(86400) * 1000)

// What every driver says alike. Outcome, level, code, detail and retry_after_ms of the result are
// filled; said is what the provider's documented body says, or empty.
void http_result(const struct http_reply *reply, enum attempt_outcome outcome,
        enum failure_level level, struct slice said, struct attempt_result *result);
// For a reply without a documented body, and for none at all:
// 2xx accepted; nothing sent: retry (provider); cut, and every 5xx: unknown, since a proxy says 502
// or 503 also for what it has handed on; 413 refused; 429 and all other: retry (provider).
void http_result_undocumented(const struct http_reply *reply, struct attempt_result *result);
