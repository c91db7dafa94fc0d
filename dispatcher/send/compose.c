#include "dispatcher/send/compose.h"

#include "common/json/scan.h"

#include <inttypes.h>

bool compose_percent(struct text *out, struct slice value)
{
    static const char digits[] = "0123456789ABCDEF";
    bool ok = true;
    for (size_t i = 0; ok && i < value.len; i++) {
        unsigned char c = value.ptr[i];
        bool letter = (c | 32) >= 'a' && (c | 32) <= 'z';
        if (letter || (c >= '0' && c <= '9') || (c && strchr("-._~", c)))
            ok = text_char(out, (char)c);
        else
            ok = text_char(out, '%') && text_char(out, digits[c >> 4]) &&
                 text_char(out, digits[c & 15]);
    }
    return ok;
}

bool compose_form(struct text *out, const char *name, struct slice value)
{
    return (out->len == 0 || text_char(out, '&')) && compose_percent(out, slice_of(name)) &&
           text_char(out, '=') && compose_percent(out, value);
}

static bool begin_member(struct text *out, const char *name)
{
    char before = out->len ? out->ptr[out->len - 1] : '{';
    return (before == '{' || text_char(out, ',')) && json_quote(out, slice_of(name)) &&
           text_char(out, ':');
}

bool compose_json(struct text *out, const char *name, struct slice value)
{
    return begin_member(out, name) && json_quote(out, value);
}

bool compose_json_raw(struct text *out, const char *name, const char *json)
{
    return begin_member(out, name) && text_str(out, json);
}

bool compose_json_int(struct text *out, const char *name, int64_t value)
{
    return begin_member(out, name) && text_fmt(out, "%" PRId64, value);
}

bool compose_base64url(struct text *out, struct slice bytes)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    uint32_t bits = 0;
    int held = 0;
    bool ok = true;
    for (size_t i = 0; ok && i < bytes.len; i++) {
        bits = bits << 8 | bytes.ptr[i];
        for (held += 8; ok && held >= 6; held -= 6)
            ok = text_char(out, digits[bits >> (held - 6) & 63]);
    }
    return ok && (held == 0 || text_char(out, digits[bits << (6 - held) & 63]));
}
