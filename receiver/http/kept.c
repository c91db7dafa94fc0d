#include "receiver/http/kept.h"

#include <strings.h>

static bool contains(struct slice name, const char *word)
{
    size_t len = strlen(word);
    for (size_t i = 0; i + len <= name.len; i++)
        if (strncasecmp((const char *)name.ptr + i, word, len) == 0)
            return true;
    return false;
}

static bool equals(struct slice name, const char *want)
{
    return name.len == strlen(want) && strncasecmp((const char *)name.ptr, want, name.len) == 0;
}

// By name, and rather one too many: a header that is shown can't be taken back.
static bool is_private(struct slice name, const char *signature_header)
{
    static const char *const words[] = {"authorization", "cookie", "sign", "hmac", "digest",
            "token", "secret", "password", "key"};
    if (equals(name, "idempotency-key"))
        return false;
    if (signature_header && equals(name, signature_header))
        return true;
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (contains(name, words[i]))
            return true;
    return false;
}

static void add_printable(struct text *out, struct slice bytes)
{
    for (size_t i = 0; i < bytes.len; i++)
        text_char(out, bytes.ptr[i] >= 0x20 && bytes.ptr[i] < 0x7f ? (char)bytes.ptr[i] : '?');
}

static void add_mark(struct text *out, struct slice value)
{
    unsigned char hash[32];
    sha256_of(value, hash);
    text_str(out, "sha256:");
    for (size_t i = 0; i < 6; i++)
        text_fmt(out, "%02x", hash[i]);
}

char *kept_headers(const struct received_header *headers, size_t n, const char *signature_header)
{
    AUTO_TEXT struct text out;
    text_init(&out, KEPT_MAX);
    for (size_t i = 0; i < n; i++) {
        size_t before = out.len;
        add_printable(&out, headers[i].name);
        text_str(&out, ": ");
        if (is_private(headers[i].name, signature_header))
            add_mark(&out, headers[i].value);
        else
            add_printable(&out, headers[i].value);
        text_char(&out, '\n');
        if (!out.overflow)
            continue;
        out.overflow = false;
        out.len = before;
        out.ptr[before] = '\0';
    }
    return out.len ? text_steal(&out) : NULL;
}
