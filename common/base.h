// base.h: the few words of C that every file uses: slices, cleanup by scope, result marks.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define MUST_CHECK __attribute__((warn_unused_result))
#define PRINTF_LIKE(fmt, first) __attribute__((format(printf, fmt, first)))
#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))

// Borrowed bytes, not NUL-terminated. ptr may be NULL only when len is 0.
struct slice {
    const unsigned char *ptr;
    size_t len;
};

// A slice of a string literal.
#define SLICE(literal) ((struct slice){(const unsigned char *)("" literal), sizeof(literal) - 1})

static inline struct slice slice_of(const char *str)
{
    return (struct slice){(const unsigned char *)str, str ? strlen(str) : 0};
}

static inline bool slice_eq(struct slice a, struct slice b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.ptr, b.ptr, a.len) == 0);
}

static inline char ascii_lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c + ('a' - 'A')) : c;
}

static inline bool slice_starts(struct slice text, struct slice start)
{
    return text.len >= start.len && (start.len == 0 || memcmp(text.ptr, start.ptr, start.len) == 0);
}

// Does the part, not empty, stand somewhere in text? memmem() takes no NULL, which an empty slice
// may have.
static inline bool slice_has(struct slice text, struct slice part)
{
    return text.ptr && memmem(text.ptr, text.len, part.ptr, part.len) != NULL;
}

// What stands behind its first n bytes, of which it has so many.
static inline struct slice slice_from(struct slice text, size_t n)
{
    return (struct slice){text.ptr + n, text.len - n};
}

// Without the blanks and tabs at both ends.
struct slice slice_trim(struct slice text);

// Bytes first, then length: the order of `COLLATE "C"` in the database.
int slice_cmp(struct slice a, struct slice b);

// A NUL-terminated copy of a; never NULL (out of memory ends the process).
char *slice_dup(struct slice a);

// Allocation that can't fail: out of memory ends the process with a message (a daemon that can't
// allocate a few bytes is restarted by its supervisor; nothing acknowledged is lost by that).
void *xmalloc(size_t size);
void *xcalloc(size_t count, size_t size);
void *xrealloc(void *ptr, size_t size);
char *xstrdup(const char *str);

// Cleanup by scope. The variable must be initialised where it is declared.
static inline void auto_free_(void *ptr)
{
    void *held;
    memcpy(&held, ptr, sizeof held);
    free(held);
}
#define AUTO_FREE __attribute__((cleanup(auto_free_)))

void auto_close_(const int *fd);
#define AUTO_CLOSE __attribute__((cleanup(auto_close_))) // for an int fd, -1 is "none"

// Hands a pointer over: returns it and clears the variable that owned it.
#define steal(p)                                                                                   \
    __extension__({                                                                                \
        __auto_type held_ = *(p);                                                                  \
        *(p) = NULL;                                                                               \
        held_;                                                                                     \
    })
