// http.h: one HTTP request that hands a delivery to a provider, and the reply to it: what drivers
// build and classify, without a socket.
#pragma once
#include "dispatcher/delivery.h"

// All that one try needs. Credentials stand in it: it lives as long as the try and is wiped.
struct http_request {
    char *url;          // https://..., or http:// where the provider's settings allow it (loopback)
    struct text head;   // header lines "Name: value\r\n"; no control character in a value
    struct text body;   // may be empty
    const char *method; // NULL = POST
    const char *probe;  // NULL, or the method of a request that changes nothing ("GET")
    bool http2;         // the provider takes HTTP/2 only
};
void http_request_fini(struct http_request *request); // zeroed is fine; wipes what it frees

// How a try ended without a final status.
enum http_end {
    HTTP_REPLIED,  // .status decides, whatever came after it
    HTTP_NOT_SENT, // surely no byte of the body was taken: no route, no TLS, refused stream
    HTTP_CUT,      // bytes were handed over and no status came: the provider may have taken it
};

struct http_reply {
    enum http_end end;
    int status;        // 0 unless HTTP_REPLIED
    struct slice head; // header lines of the final response, as they came
    struct slice body; // at most HTTP_REPLY_MAX bytes of it
    const char *why;   // the library's words when there is no status, or NULL
    int64_t now_us;    // wall clock, for Retry-After dates
};
#define HTTP_REPLY_MAX ((size_t)64 << 10)
