// saved.h: a request that somebody saved: as HTTP text, or as the JSON that `pawl inbox` shows.
#pragma once
#include "common/err.h"
#include "common/text.h"
#include "receiver/verify/verify.h"

enum { SAVED_MAX = 64 << 20, SAVED_HEADERS_MAX = 128 };

struct saved {
    struct verify_request request; // borrows from the input and from bytes
    struct verify_header headers[SAVED_HEADERS_MAX];
    struct text bytes;
    int64_t received_s; // 0 = not said
    size_t said_length; // Content-Length, SIZE_MAX = not there
    size_t behind;      // bytes behind the length that was said: cut off
    size_t hidden;      // headers whose value was not kept
    bool cut;           // only the start of the body was kept
    char source[64];    // as the JSON names it, or as the target does; "" = neither
};
void saved_fini(struct saved *saved); // zeroed is fine
#define AUTO_SAVED __attribute__((cleanup(saved_fini)))

// HTTP text: a request line, header lines, an empty line, the body: lines may end with LF alone,
// and each line of the head may stand behind "> ", as curl -v prints it. Or a JSON object, or the
// first of its `items`, with `headers` (lines, or [name, value] pairs), `body` (or `body_base64`),
// and perhaps method, target, source, received_at. Borrows input. ERR_INPUT says what it is not.
MUST_CHECK bool saved_read(struct slice input, struct saved *ret_saved, struct err *err);

// RFC 3339 in UTC, or unix seconds.
MUST_CHECK bool saved_time(struct slice text, int64_t *ret_s);
