#include "receiver/http/coded.h"

#include "receiver/http/inflate.h"

#define INFLATED_MAX ((size_t)2 << 20) // bytes, where nobody says it

static enum body_coding coding_of(const struct received *received)
{
    enum body_coding coding = CODING_NONE;
    for (size_t i = 0; i < received->n_headers; i++) {
        if (!slice_eq(received->headers[i].name, SLICE("content-encoding"))) // they are lower case
            continue;
        if (coding != CODING_NONE)
            return CODING_OTHER;
        coding = body_coding_of(received->headers[i].value);
    }
    return coding;
}

bool coded_is(const struct received *received)
{
    return coding_of(received) != CODING_NONE;
}

bool coded_taken(const struct source *source, const struct received *received)
{
    enum body_coding coding = coding_of(received);
    return coding == CODING_NONE || (source->compressed && coding != CODING_OTHER);
}

static size_t max_of(const struct source *source, const struct received *received)
{
    if (source->body_max)
        return source->body_max;
    return received->body_max ? received->body_max : INFLATED_MAX;
}

const char *coded_open(const struct source *source, const struct received *received,
        struct text *hold, struct slice *ret_body)
{
    static const char *const reasons[] = {[INFLATE_OK] = NULL,
            [INFLATE_BROKEN] = "content_encoding_broken",
            [INFLATE_TOO_LARGE] = "inflated_too_large"};
    if (!coded_taken(source, received))
        return "content_encoding";
    *ret_body = received->body;
    if (!coded_is(received))
        return NULL;
    enum inflate_end end =
            inflate_body(coding_of(received), received->body, max_of(source, received), hold);
    if (end == INFLATE_OK)
        *ret_body = text_slice(hold);
    return reasons[end];
}
