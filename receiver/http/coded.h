// coded.h: a request's Content-Encoding: whether its source takes it, and the body behind it.
#pragma once
#include "common/text.h"
#include "receiver/http/stages.h"

// There is a coding to be undone.
bool coded_is(const struct received *received);

// Nothing to undo, or a coding that the source takes: gzip or deflate where it says `compressed`.
// Two such headers, or two codings in one, are not taken.
bool coded_taken(const struct source *source, const struct received *received);

// The body as what it stands for: the request's own bytes, or hold's, which is empty. NULL, or why
// there is none: "content_encoding" (not taken), "content_encoding_broken", "inflated_too_large"
// (longer than the source's body_max, else the request's, or much longer than what was sent).
MUST_CHECK const char *coded_open(const struct source *source, const struct received *received,
        struct text *hold, struct slice *ret_body);
