#include "common/text.h"

#include <stdarg.h>
#include <stdio.h>

void text_init(struct text *text, size_t max)
{
    *text = (struct text){.max = max};
}

void text_fini(struct text *text)
{
    free(text->ptr);
    *text = (struct text){.max = text->max};
}

void text_reset(struct text *text)
{
    text->len = 0;
    text->overflow = false;
    if (text->ptr)
        text->ptr[0] = '\0';
}

static bool reserve(struct text *text, size_t more)
{
    if (more > text->max || text->len > text->max - more) {
        text->overflow = true;
        return false;
    }
    size_t need = text->len + more + 1;
    if (need <= text->room)
        return true;
    size_t room = text->room ? text->room : 64;
    while (room < need)
        room *= 2;
    text->ptr = xrealloc(text->ptr, room);
    text->room = room;
    return true;
}

void text_expect(struct text *text, size_t more)
{
    size_t left = text->max > text->len ? text->max - text->len : 0;
    size_t room = text->len + (more < left ? more : left) + 1;
    if (room <= text->room)
        return;
    text->ptr = xrealloc(text->ptr, room);
    if (text->len == 0)
        text->ptr[0] = '\0';
    text->room = room;
}

bool text_add_slowly(struct text *text, struct slice bytes)
{
    if (!reserve(text, bytes.len))
        return false;
    if (bytes.len)
        memcpy(text->ptr + text->len, bytes.ptr, bytes.len);
    text->len += bytes.len;
    text->ptr[text->len] = '\0';
    return true;
}

bool text_fmt(struct text *text, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    va_list again;
    va_copy(again, args);
    // Mostly it fits into what is there already.
    size_t room = text->ptr ? text->room - text->len : 0;
    int n = vsnprintf(room ? text->ptr + text->len : NULL, room, fmt, args);
    va_end(args);
    bool fits = n >= 0 && (size_t)n < room && (size_t)n <= text->max - text->len;
    bool ok = fits || (n >= 0 && reserve(text, (size_t)n));
    if (ok && !fits)
        vsnprintf(text->ptr + text->len, (size_t)n + 1, fmt, again);
    if (ok)
        text->len += (size_t)n;
    else if (room)
        text->ptr[text->len] = '\0'; // what did not fit is taken back
    va_end(again);
    return ok;
}

const char *text_cstr(const struct text *text)
{
    return text->ptr ? text->ptr : "";
}

char *text_steal(struct text *text)
{
    char *ptr = text->ptr ? text->ptr : xstrdup("");
    *text = (struct text){.max = text->max};
    return ptr;
}
