#include "receiver/http/kept.h"

#include <strings.h>

// word is in lower case; the first letter alone sorts out nearly all.
static bool contains(struct slice name, const char *word)
{
    size_t len = strlen(word);
    for (size_t i = 0; i + len <= name.len; i++)
        if ((name.ptr[i] | 0x20) == word[0] &&
                strncasecmp((const char *)name.ptr + i, word, len) == 0)
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
            "token", "secret", "password", "key", "clientid"};
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
    size_t start = 0;
    for (size_t i = 0; i <= bytes.len; i++) {
        if (i < bytes.len && bytes.ptr[i] >= 0x20 && bytes.ptr[i] < 0x7f)
            continue;
        text_add(out, (struct slice){bytes.ptr + start, i - start});
        if (i < bytes.len)
            text_char(out, '?');
        start = i + 1;
    }
}

static void add_mark(struct text *out, struct slice value)
{
    unsigned char hash[32];
    struct key key;
    char hex[KEY_HEX];
    sha256_of(value, hash);
    memcpy(key.bytes, hash, KEY_BYTES);
    key_hex(key, hex);
    text_str(out, "sha256:");
    text_add(out, (struct slice){(const unsigned char *)hex, 12});
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
