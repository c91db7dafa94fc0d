// sigv4.h: signs a request for AWS: Signature Version 4, pure.
//
// https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html
// By hand, since libcurl hashes only a body that it is given whole, and ours comes from a callback.
#pragma once
#include "common/err.h"
#include "common/text.h"

struct sigv4 {
    const char *access, *region, *service; // access: the key's id
    struct slice secret;
    int64_t now_s; // AWS takes what is at most five minutes off
};

// Names in lower case and sorted; values without blanks around them or two in a row.
struct sigv4_header {
    const char *name;
    struct slice value;
};

// What is signed. path and query as they are sent: of unreserved characters and '/', '=', '&', the
// query's parameters sorted.
struct sigv4_request {
    const char *method;
    struct slice path, query;
    const struct sigv4_header *headers;
    size_t n_headers;
    struct slice body;
    const unsigned char *body_sha256; // NULL, or of a body that is not here
};

#define SIGV4_TIME 17                                 // with NUL
void sigv4_time(int64_t now_s, char out[SIGV4_TIME]); // 20150830T123600Z: the header x-amz-date

// Appends the value of Authorization.
MUST_CHECK bool sigv4_sign(const struct sigv4 *how, const struct sigv4_request *request,
        struct text *out, struct err *err);
