#include "common/base.h"

#include <stdio.h>
#include <unistd.h>

struct slice slice_trim(struct slice text)
{
    while (text.len && (text.ptr[0] == ' ' || text.ptr[0] == '\t'))
        text = slice_from(text, 1);
    while (text.len && (text.ptr[text.len - 1] == ' ' || text.ptr[text.len - 1] == '\t'))
        text.len--;
    return text;
}

int slice_cmp(struct slice a, struct slice b)
{
    size_t shorter = a.len < b.len ? a.len : b.len;
    int order = shorter ? memcmp(a.ptr, b.ptr, shorter) : 0;
    if (order != 0)
        return order;
    return a.len < b.len ? -1 : a.len > b.len;
}

static void *or_die(void *ptr)
{
    if (ptr)
        return ptr;
    static const char msg[] = "pawl: out of memory\n";
    ssize_t ignored = write(STDERR_FILENO, msg, sizeof msg - 1);
    (void)ignored;
    abort();
}

void *xmalloc(size_t size)
{
    return or_die(malloc(size ? size : 1));
}

void *xcalloc(size_t count, size_t size)
{
    return or_die(calloc(count ? count : 1, size ? size : 1));
}

void *xrealloc(void *ptr, size_t size)
{
    return or_die(realloc(ptr, size ? size : 1));
}

char *xstrdup(const char *str)
{
    return or_die(strdup(str));
}

char *slice_dup(struct slice a)
{
    char *copy = xmalloc(a.len + 1);
    if (a.len)
        memcpy(copy, a.ptr, a.len);
    copy[a.len] = '\0';
    return copy;
}

void auto_close_(const int *fd)
{
    if (*fd >= 0)
        close(*fd);
}
