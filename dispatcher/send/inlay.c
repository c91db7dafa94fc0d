#include "dispatcher/send/inlay.h"

#include "dispatcher/attachment.h"

#include <openssl/evp.h>

enum {
    LINE_BYTES = 57, // 76 characters
    LINE_CODED = 78, // with CRLF
    PIECE_LINES = 64,
    PIECE_RAW = LINE_BYTES * PIECE_LINES, // 57 is three times 19: pieces join without padding
    PIECE_CODED = LINE_CODED * PIECE_LINES + 8,
    DIGEST_PIECE = 16384,
};

struct inlay {
    size_t at;
    const struct attachment *attachment; // NULL: text and own
    struct text text;
    struct inlays own;
    bool lines;
};

struct inlay_reader {
    struct slice text;
    const struct inlays *inlays;
    const char *folder;
    size_t at;   // of the text
    size_t next; // inlay
    bool open;   // that one is being read
    struct attachment_reading file;
    struct inlay_reader *inner;
    size_t coded_len, coded_at; // of coded: what waits to be given
    unsigned char coded[PIECE_CODED];
    unsigned char raw[PIECE_RAW];
};

void inlays_fini(struct inlays *inlays)
{
    for (size_t i = 0; i < inlays->n; i++) {
        text_fini(&inlays->rows[i].text);
        inlays_fini(&inlays->rows[i].own);
    }
    free(inlays->rows);
    *inlays = (struct inlays){0};
}

static struct inlay *add(struct inlays *inlays, size_t at)
{
    inlays->rows = xrealloc(inlays->rows, (inlays->n + 1) * sizeof inlays->rows[0]);
    struct inlay *inlay = &inlays->rows[inlays->n++];
    *inlay = (struct inlay){.at = at};
    return inlay;
}

void inlays_add_file(
        struct inlays *inlays, size_t at, const struct attachment *attachment, bool lines)
{
    struct inlay *inlay = add(inlays, at);
    inlay->attachment = attachment;
    inlay->lines = lines;
}

void inlays_add_text(struct inlays *inlays, size_t at, struct text *text, struct inlays *own)
{
    struct inlay *inlay = add(inlays, at);
    inlay->text = *text;
    inlay->own = *own;
    *text = (struct text){0};
    *own = (struct inlays){0};
}

bool inlays_moved(struct inlays *inlays, size_t *next, size_t from, size_t to)
{
    if (*next == inlays->n || inlays->rows[*next].at != from)
        return false;
    inlays->rows[(*next)++].at = to;
    return true;
}

static size_t coded_size(const struct inlay *inlay)
{
    size_t raw = inlay->attachment ? inlay->attachment->size
                                   : inlay->text.len + inlays_size(&inlay->own);
    size_t ends = inlay->lines ? (raw + LINE_BYTES - 1) / LINE_BYTES * 2 : 0;
    return (raw + 2) / 3 * 4 + ends;
}

size_t inlays_size(const struct inlays *inlays)
{
    size_t size = 0;
    for (size_t i = 0; i < inlays->n; i++)
        size += coded_size(&inlays->rows[i]);
    return size;
}

static struct inlay_reader *reader_new(
        struct slice text, const struct inlays *inlays, const char *folder)
{
    struct inlay_reader *reader = xcalloc(1, sizeof *reader);
    reader->text = text;
    reader->inlays = inlays;
    reader->folder = folder;
    reader->file.fd = -1;
    return reader;
}

struct inlay_reader *inlay_reader_new(struct slice text, const struct inlays *inlays)
{
    return reader_new(text, inlays, inlays->folder);
}

void inlay_reader_free(struct inlay_reader *reader)
{
    if (!reader)
        return;
    attachment_close(&reader->file);
    inlay_reader_free(reader->inner);
    free(reader);
}

static bool open_next(struct inlay_reader *reader, struct err *err)
{
    const struct inlay *inlay = &reader->inlays->rows[reader->next];
    if (inlay->attachment &&
            !attachment_open(&reader->file, reader->folder, inlay->attachment, err))
        return false;
    if (!inlay->attachment)
        reader->inner = reader_new(text_slice(&inlay->text), &inlay->own, reader->folder);
    reader->open = true;
    return true;
}

static void close_this(struct inlay_reader *reader)
{
    attachment_close(&reader->file);
    inlay_reader_free(reader->inner);
    reader->inner = NULL;
    reader->open = false;
    reader->next++;
}

// A whole piece, unless the source ends before it is one.
static bool fetch(struct inlay_reader *reader, size_t *ret_n, struct err *err)
{
    size_t got = 0, n = 1;
    while (got < PIECE_RAW && n > 0) {
        unsigned char *to = reader->raw + got;
        bool ok = reader->inner ? inlay_read(reader->inner, to, PIECE_RAW - got, &n, err)
                                : attachment_read(&reader->file, to, PIECE_RAW - got, &n, err);
        if (!ok)
            return false;
        got += n;
    }
    *ret_n = got;
    return true;
}

static void encode(struct inlay_reader *reader, size_t n, bool lines)
{
    size_t step = lines ? LINE_BYTES : PIECE_RAW;
    reader->coded_len = reader->coded_at = 0;
    for (size_t i = 0; i < n; i += step) {
        size_t len = n - i < step ? n - i : step;
        unsigned char *to = reader->coded + reader->coded_len;
        int coded = EVP_EncodeBlock(to, reader->raw + i, (int)len);
        if (lines)
            memcpy(to + coded, "\r\n", 2);
        reader->coded_len += (size_t)coded + (lines ? 2 : 0);
    }
}

// The next piece of the inlay into coded; at its end on to the text behind it.
static bool advance(struct inlay_reader *reader, struct err *err)
{
    size_t n = 0;
    if ((!reader->open && !open_next(reader, err)) || !fetch(reader, &n, err))
        return false;
    encode(reader, n, reader->inlays->rows[reader->next].lines);
    if (n == 0)
        close_this(reader);
    return true;
}

static size_t give(const unsigned char *from, size_t have, unsigned char *out, size_t room)
{
    size_t n = have < room ? have : room;
    if (n)
        memcpy(out, from, n);
    return n;
}

bool inlay_read(struct inlay_reader *reader, unsigned char *out, size_t room, size_t *ret_n,
        struct err *err)
{
    size_t n = 0;
    for (bool more = true; more && n < room;) {
        bool laid = reader->next < reader->inlays->n;
        size_t end = laid ? reader->inlays->rows[reader->next].at : reader->text.len;
        if (reader->coded_at < reader->coded_len) {
            size_t given = give(reader->coded + reader->coded_at,
                    reader->coded_len - reader->coded_at, out + n, room - n);
            reader->coded_at += given;
            n += given;
        } else if (reader->at < end) {
            size_t given = give(reader->text.ptr + reader->at, end - reader->at, out + n, room - n);
            reader->at += given;
            n += given;
        } else if (laid && !advance(reader, err)) {
            return false;
        } else {
            more = laid;
        }
    }
    *ret_n = n;
    return true;
}

static bool digest_all(
        struct inlay_reader *reader, EVP_MD_CTX *context, unsigned char *piece, struct err *err)
{
    for (size_t n = 1; n > 0;)
        if (!inlay_read(reader, piece, DIGEST_PIECE, &n, err) ||
                !EVP_DigestUpdate(context, piece, n))
            return false;
    return true;
}

bool inlays_digest(
        struct slice text, const struct inlays *inlays, unsigned char ret[32], struct err *err)
{
    AUTO_FREE unsigned char *piece = xmalloc(DIGEST_PIECE);
    unsigned char digest[EVP_MAX_MD_SIZE];
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    struct inlay_reader *reader = inlay_reader_new(text, inlays);
    err_set(err, ERR_TEMP, "the request can't be hashed");
    bool ok = context && EVP_DigestInit_ex(context, EVP_sha256(), NULL) &&
              digest_all(reader, context, piece, err) && EVP_DigestFinal_ex(context, digest, NULL);
    if (ok)
        memcpy(ret, digest, 32);
    EVP_MD_CTX_free(context);
    inlay_reader_free(reader);
    return ok;
}
