#include "dispatcher/send/push.h"

#include <stdio.h>

static bool fits(struct slice id, size_t most, bool alnum)
{
    for (size_t i = 0; i < id.len; i++) {
        unsigned char c = id.ptr[i];
        bool plain = ((c | 32) >= 'a' && (c | 32) <= 'z') || (c >= '0' && c <= '9');
        if (!plain && (alnum || c <= 0x20 || c > 0x7e))
            return false;
    }
    return id.len <= most;
}

void push_collapse(const struct content *content, const char *key_hex, size_t most, bool alnum,
        char out[COLLAPSE_MAX + 1])
{
    bool given = content->collapse && *content->collapse;
    struct slice id = slice_of(given ? content->collapse : key_hex);
    if (fits(id, most, alnum)) {
        snprintf(out, COLLAPSE_MAX + 1, "%.*s", (int)id.len, (const char *)id.ptr);
        return;
    }
    unsigned char digest[32];
    sha256_of(id, digest);
    for (size_t i = 0; i < sizeof digest; i++)
        snprintf(out + 2 * i, 3, "%02x", digest[i]);
    out[most < COLLAPSE_MAX ? most : COLLAPSE_MAX] = '\0';
}
