#include "receiver/http/inflate.h"

#include <limits.h>
#include <strings.h>
#include <zlib.h>

enum {
    STEP = 16384,         // bytes of one turn
    WINDOW_ZLIB = 15,     // the largest window, RFC 1950's
    WINDOW_GZIP = 15 + 16 // zlib's way of asking for RFC 1952
};

enum body_coding body_coding_of(struct slice content_encoding)
{
    static const struct {
        const char *name;
        enum body_coding coding;
    } names[] = {{"", CODING_NONE}, {"identity", CODING_NONE}, {"gzip", CODING_GZIP},
            {"x-gzip", CODING_GZIP}, {"deflate", CODING_DEFLATE}};
    struct slice name = slice_trim(content_encoding);
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        if (name.len == strlen(names[i].name) &&
                (name.len == 0 ||
                        strncasecmp((const char *)name.ptr, names[i].name, name.len) == 0))
            return names[i].coding;
    }
    return CODING_OTHER;
}

// One turn: some output, and whether the stream goes on.
static int turn(z_stream *stream, struct text *out)
{
    unsigned char step[STEP];
    stream->next_out = step;
    stream->avail_out = sizeof step;
    int rc = inflate(stream, Z_NO_FLUSH);
    text_add(out, (struct slice){step, sizeof step - stream->avail_out});
    return rc;
}

// A gzip body may be several members one behind the other (RFC 1952 2.2); each is at least 18 bytes
// long, so that there are not many.
static bool next_member(z_stream *stream, enum body_coding coding)
{
    return coding == CODING_GZIP && stream->avail_in > 0 && inflateReset(stream) == Z_OK;
}

static enum inflate_end run(z_stream *stream, enum body_coding coding, struct text *out)
{
    for (;;) {
        int rc = turn(stream, out);
        if (out->overflow)
            return INFLATE_TOO_LARGE;
        if (rc == Z_STREAM_END && stream->avail_in == 0)
            return INFLATE_OK;
        bool more = rc == Z_STREAM_END ? next_member(stream, coding) : rc == Z_OK;
        // Nothing left to read and the end not seen: cut short.
        if (!more || (stream->avail_in == 0 && stream->avail_out > 0))
            return INFLATE_BROKEN;
    }
}

enum inflate_end inflate_body(
        enum body_coding coding, struct slice sent, size_t max, struct text *out)
{
    z_stream stream = {0};
    size_t most = sent.len < max / INFLATE_RATIO_MAX ? sent.len * INFLATE_RATIO_MAX : max;
    text_init(out, most);
    if ((coding != CODING_GZIP && coding != CODING_DEFLATE) || sent.len == 0 || sent.len > UINT_MAX)
        return INFLATE_BROKEN;
    if (inflateInit2(&stream, coding == CODING_GZIP ? WINDOW_GZIP : WINDOW_ZLIB) != Z_OK)
        return INFLATE_BROKEN;
    stream.next_in = (z_const Bytef *)(uintptr_t)sent.ptr;
    stream.avail_in = (uInt)sent.len;
    enum inflate_end end = run(&stream, coding, out);
    inflateEnd(&stream);
    if (end != INFLATE_OK)
        text_fini(out);
    return end;
}
