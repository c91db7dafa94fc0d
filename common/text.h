// text.h: a growing byte buffer with a ceiling; what does not fit is an error, never cut in
// silence.
#pragma once
#include "common/base.h"

struct text {
    char *ptr; // always NUL-terminated once something was appended; NULL before
    size_t len;
    size_t room;
    size_t max;    // ceiling in bytes, set at init
    bool overflow; // something did not fit: len stays as it was before that append
};

void text_init(struct text *text, size_t max);
void text_fini(struct text *text); // a zeroed one is fine
#define AUTO_TEXT __attribute__((cleanup(text_fini)))
void text_reset(struct text *text); // empties it, keeps the memory, clears overflow

// Makes room for so many bytes more, up to the ceiling, for who knows about how many will come.
void text_expect(struct text *text, size_t more);

bool text_add_slowly(struct text *text, struct slice bytes); // text_add() where there is no room

// Appends; false (and overflow set) when it would pass the ceiling. Inline: texts are put together
// of many small pieces.
static inline bool text_add(struct text *text, struct slice bytes)
{
    bool fits = bytes.len < text->room - text->len && text->len + bytes.len <= text->max;
    if (!fits || bytes.len == 0)
        return text_add_slowly(text, bytes);
    memcpy(text->ptr + text->len, bytes.ptr, bytes.len);
    text->len += bytes.len;
    text->ptr[text->len] = '\0';
    return true;
}

static inline bool text_str(struct text *text, const char *str)
{
    return text_add(text, slice_of(str));
}

static inline bool text_char(struct text *text, char c)
{
    return text_add(text, (struct slice){(const unsigned char *)&c, 1});
}

bool text_fmt(struct text *text, const char *fmt, ...) PRINTF_LIKE(2, 3);

static inline struct slice text_slice(const struct text *text)
{
    return (struct slice){(const unsigned char *)text->ptr, text->len};
}

// The content as a C string; "" when nothing was appended. Valid until the next append.
const char *text_cstr(const struct text *text);

// Hands the buffer over as a NUL-terminated string (never NULL); text is empty afterwards.
char *text_steal(struct text *text);
