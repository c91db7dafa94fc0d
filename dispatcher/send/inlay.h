// inlay.h: files inside a text that is sent: the text is made by a driver, the files are read while
// it goes out, so that a mail of ten megabytes takes a few kilobytes of memory.
//
// The driver notes where in the text the base64 of a file belongs; what is sent is the text with
// all of them laid in.
#pragma once
#include "dispatcher/delivery.h"

struct inlay;

struct inlays { // zeroed: none
    struct inlay *rows;
    size_t n;
    const char *folder; // of the host file; set before a reader is made; borrowed, NULL = none
};
void inlays_fini(struct inlays *inlays);
#define AUTO_INLAYS __attribute__((cleanup(inlays_fini)))

// After the text's first `at` bytes and what was laid in there before. The attachment is borrowed.
// lines: in lines of 76 with CRLF, as in a mail (RFC 2045 6.8); else in one.
void inlays_add_file(
        struct inlays *inlays, size_t at, const struct attachment *attachment, bool lines);
// A text with files of its own, as base64 in one line; takes both over.
void inlays_add_text(struct inlays *inlays, size_t at, struct text *text, struct inlays *own);

// The text is being copied with more in it: the next inlay, *next, stood at `from` and is at `to`
// now. True: it was there, and *next is the one after it.
bool inlays_moved(struct inlays *inlays, size_t *next, size_t from, size_t to);

size_t inlays_size(const struct inlays *inlays); // bytes that they add to the text

// Reads text and inlays from the start; both are borrowed. Free with inlay_reader_free().
struct inlay_reader;
MUST_CHECK struct inlay_reader *inlay_reader_new(struct slice text, const struct inlays *inlays);
void inlay_reader_free(struct inlay_reader *reader); // NULL is fine
// Fills out up to room; *ret_n 0 = that was all. Failures as attachment_read(); no byte behind a
// file is given before the whole file was compared.
MUST_CHECK bool inlay_read(struct inlay_reader *reader, unsigned char *out, size_t room,
        size_t *ret_n, struct err *err);

// The SHA-256 of all that would be read.
MUST_CHECK bool inlays_digest(
        struct slice text, const struct inlays *inlays, unsigned char ret[32], struct err *err);
