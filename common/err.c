#include "common/err.h"

#include <stdarg.h>
#include <stdio.h>

bool err_set(struct err *err, enum err_kind kind, const char *fmt, ...)
{
    if (!err)
        return false;
    err->kind = kind;
    va_list args;
    va_start(args, fmt);
    vsnprintf(err->msg, sizeof err->msg, fmt, args);
    va_end(args);
    return false;
}

bool err_prefix(struct err *err, const char *fmt, ...)
{
    if (!err)
        return false;
    char rest[sizeof err->msg];
    memcpy(rest, err->msg, sizeof rest);
    va_list args;
    va_start(args, fmt);
    int n = vsnprintf(err->msg, sizeof err->msg, fmt, args);
    va_end(args);
    if (n >= 0 && (size_t)n + 3 < sizeof err->msg) {
        int room = (int)(sizeof err->msg - (size_t)n) - 3;
        snprintf(err->msg + n, sizeof err->msg - (size_t)n, ": %.*s", room, rest);
    }
    return false;
}
