// file.h: a whole file of bounded size, and joined paths.
#pragma once
#include "common/err.h"

// Reads a regular file of at most max bytes; *ret_bytes is the caller's, NUL-terminated.
MUST_CHECK bool file_read(
        const char *path, size_t max, char **ret_bytes, size_t *ret_len, struct err *err);
// name itself when absolute or when dir is "."; the caller frees.
char *path_join(const char *dir, const char *name);
