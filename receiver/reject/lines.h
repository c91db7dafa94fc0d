// lines.h: the header lines of a refused request as they are kept: able to be verified again, and
// without what would let others in.
#pragma once
#include "common/text.h"

#define LINES_MAX ((size_t)16 << 10) // bytes; more than h2o lets a request's head have

// True for a header whose value is a secret by itself, told by its name: never kept. Signatures are
// none: what they are over is kept with them, and is refused here or taken only once.
bool lines_hide(struct slice name);

// Appends "name: value\n", or "name=sha256:" with 12 hex digits where the value is hidden. False
// when the line does not fit; then nothing was added.
bool lines_add(struct text *out, struct slice name, struct slice value, bool hidden);

struct line {
    struct slice name, value;
    bool hidden;
};
// Cuts the next line off; false at the end, or where the rest is no line.
bool lines_next(struct slice *rest, struct line *ret_line);
