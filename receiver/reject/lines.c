#include "receiver/reject/lines.h"

#include "common/keys.h"

#include <strings.h>

static bool contains(struct slice name, const char *word)
{
    size_t len = strlen(word);
    for (size_t i = 0; i + len <= name.len; i++)
        if (strncasecmp((const char *)name.ptr + i, word, len) == 0)
            return true;
    return false;
}

// "authorization" rather than "auth": PayPal's algorithm is in PAYPAL-AUTH-ALGO.
bool lines_hide(struct slice name)
{
    static const char *const words[] = {"authorization", "cookie", "token", "secret", "password",
            "api-key", "apikey", "access-key", "auth-key"};
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (contains(name, words[i]))
            return true;
    return false;
}

static void add_digest(struct text *out, struct slice value)
{
    unsigned char hash[32];
    sha256_of(value, hash);
    text_str(out, "=sha256:");
    for (size_t i = 0; i < 6; i++)
        text_fmt(out, "%02x", hash[i]);
}

bool lines_add(struct text *out, struct slice name, struct slice value, bool hidden)
{
    size_t before = out->len;
    text_add(out, name);
    if (hidden) {
        add_digest(out, value);
    } else {
        text_str(out, ": ");
        text_add(out, value);
    }
    text_char(out, '\n');
    if (!out->overflow)
        return true;
    out->overflow = false;
    out->len = before;
    if (out->ptr)
        out->ptr[before] = '\0';
    return false;
}

// A name is a token (RFC 9110 §5.6.2): neither ':' nor '=' is in it.
bool lines_next(struct slice *rest, struct line *ret_line)
{
    const unsigned char *end = rest->len ? memchr(rest->ptr, '\n', rest->len) : NULL;
    if (!end)
        return false;
    size_t len = (size_t)(end - rest->ptr), name = 0;
    while (name < len && rest->ptr[name] != ':' && rest->ptr[name] != '=')
        name++;
    bool hidden = name < len && rest->ptr[name] == '=';
    size_t value = name + (hidden ? 1 : 2);
    if (name == 0 || value > len)
        return false;
    *ret_line = (struct line){{rest->ptr, name}, {rest->ptr + value, len - value}, hidden};
    *rest = (struct slice){end + 1, rest->len - len - 1};
    return true;
}
