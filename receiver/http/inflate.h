// inflate.h: a compressed body as the bytes it stands for, within limits. Pure.
#pragma once
#include "common/text.h"

// Content-Encoding (RFC 9110 8.4.1). More than one coding, and any other, is not taken.
enum body_coding {
    CODING_NONE,    // absent, empty or "identity"
    CODING_GZIP,    // "gzip", "x-gzip": RFC 1952
    CODING_DEFLATE, // "deflate": the zlib format of RFC 1950
    CODING_OTHER,
};
enum body_coding body_coding_of(struct slice content_encoding); // the header's value

// How many times longer than what was sent a body may be. Webhooks compress to a tenth; deflate's
// limit, about 1,000, is reached by bombs.
#define INFLATE_RATIO_MAX 100

enum inflate_end {
    INFLATE_OK,
    INFLATE_BROKEN,    // not of that coding, a wrong checksum, cut short, or something behind it
    INFLATE_TOO_LARGE, // longer than max, or than INFLATE_RATIO_MAX times what was sent
};

// Undoes GZIP or DEFLATE into out, which is empty and gets its ceiling here: max, or less by the
// ratio. Memory is bounded by twice that ceiling and zlib's 40 KiB, whatever was sent. out holds
// nothing unless it is INFLATE_OK.
MUST_CHECK enum inflate_end inflate_body(
        enum body_coding coding, struct slice sent, size_t max, struct text *out);
