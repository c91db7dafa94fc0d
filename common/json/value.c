#include "common/json/grammar.h"

#include <errno.h>
#include <inttypes.h>

static uint32_t hex4(const unsigned char *s)
{
    uint32_t v = 0;
    for (int i = 0; i < 4; i++) {
        uint32_t digit = s[i] <= '9' ? s[i] - 0x30U : (s[i] | 0x20U) - 'a' + 10U;
        v = v << 4 | digit;
    }
    return v;
}

// \uXXXX, both halves of a surrogate pair (RFC 8259 section 7).
static uint32_t escaped_code(struct slice inside, size_t *at)
{
    uint32_t high = hex4(inside.ptr + *at + 2);
    *at += 6;
    struct slice rest = slice_from(inside, *at);
    if (high < 0xD800 || high > 0xDBFF || rest.len < 6 || rest.ptr[0] != '\\' || rest.ptr[1] != 'u')
        return high;
    uint32_t low = hex4(rest.ptr + 2);
    if (low < 0xDC00 || low > 0xDFFF)
        return high;
    *at += 6;
    return 0x10000 + ((high - 0xD800) << 10 | (low - 0xDC00));
}

uint32_t json_char(struct slice inside, size_t *at)
{
    static const unsigned char short_escape[256] = {['"'] = '"',
            ['\\'] = '\\',
            ['/'] = '/',
            ['b'] = '\b',
            ['f'] = '\f',
            ['n'] = '\n',
            ['r'] = '\r',
            ['t'] = '\t'};
    if (inside.ptr[*at] != '\\') {
        size_t n = utf8_len(slice_from(inside, *at));
        uint32_t c = utf8_code(inside.ptr + *at, n);
        *at += n;
        return c;
    }
    if (inside.ptr[*at + 1] == 'u')
        return escaped_code(inside, at);
    *at += 2;
    return short_escape[inside.ptr[*at - 1]];
}

static bool too_long(const struct text *out, struct err *err)
{
    return err_set(err, ERR_INPUT, "value is longer than %zu bytes", out->max);
}

// Puts out back to where it was: half a value is none.
static bool undo(struct text *out, size_t len)
{
    out->len = len;
    if (out->ptr)
        out->ptr[len] = '\0';
    return false;
}

static bool decode(struct slice inside, struct text *out, struct err *err)
{
    for (size_t i = 0; i < inside.len;) {
        const unsigned char *escape = memchr(inside.ptr + i, '\\', inside.len - i);
        size_t plain = escape ? (size_t)(escape - inside.ptr) - i : inside.len - i;
        if (!text_add(out, (struct slice){inside.ptr + i, plain}))
            return too_long(out, err);
        i += plain;
        if (!escape)
            break;
        uint32_t c = json_char(inside, &i);
        if (c == 0)
            return err_set(err, ERR_INPUT, "string holds \\u0000");
        if (c >= 0xD800 && c <= 0xDFFF)
            return err_set(err, ERR_INPUT, "string holds a lone surrogate");
        if (!utf8_add(out, c))
            return too_long(out, err);
    }
    return true;
}

bool json_text(struct json_token token, struct text *out, struct err *err)
{
    size_t before = out->len;
    if (token.kind != JSON_KIND_STRING)
        return err_set(err, ERR_INPUT, "value is not a string");
    struct slice inside = {token.raw.ptr + 1, token.raw.len - 2};
    return decode(inside, out, err) || undo(out, before);
}

static bool is_literal(struct json_token token)
{
    return token.kind == JSON_KIND_NUMBER || token.kind == JSON_KIND_TRUE ||
           token.kind == JSON_KIND_FALSE;
}

bool json_plain(struct json_token token, struct text *out, struct err *err)
{
    if (token.kind == JSON_KIND_STRING)
        return json_text(token, out, err);
    if (!is_literal(token))
        return err_set(err, ERR_INPUT, "value is not a string, a number, true or false");
    return text_add(out, token.raw) || too_long(out, err);
}

// What a terminal, a log line or a page would not show as itself.
static bool is_unprintable(uint32_t c)
{
    return c < 0x20 || (c >= 0x7F && c < 0xA0) ||   // C0, DEL, C1
           c == 0x2028 || c == 0x2029 ||            // line and paragraph separator
           (c >= 0x202A && c <= 0x202E) ||          // bidi embedding and override
           (c >= 0x2066 && c <= 0x2069) ||          // bidi isolates
           c == 0xFEFF || (c & 0xFFFE) == 0xFFFE || // byte order mark, noncharacters
           (c >= 0xFDD0 && c <= 0xFDEF);
}

bool json_id_ok(struct slice id, struct err *err)
{
    if (id.len == 0)
        return err_set(err, ERR_INPUT, "id is empty");
    if (id.len > JSON_ID_MAX)
        return err_set(err, ERR_INPUT, "id is longer than %d bytes", JSON_ID_MAX);
    for (size_t i = 0; i < id.len;) {
        size_t n = utf8_len(slice_from(id, i));
        if (n == 0)
            return err_set(err, ERR_INPUT, "id is not UTF-8");
        if (is_unprintable(utf8_code(id.ptr + i, n)))
            return err_set(err, ERR_INPUT, "id holds a character that can't be printed");
        i += n;
    }
    return true;
}

static bool mark_id(struct json_token token, struct text *id, struct err *err)
{
    bool is_string = token.kind == JSON_KIND_STRING;
    if (!is_string && token.kind != JSON_KIND_NUMBER)
        return err_set(err, ERR_INPUT, "id is neither a string nor a number");
    if (is_string && !json_text(token, id, err))
        return false;
    bool marked = !is_string || (id->len && id->ptr[0] == '#');
    if (!marked)
        return true;
    AUTO_TEXT struct text plain = *id;
    text_init(id, plain.max);
    struct slice rest = is_string ? text_slice(&plain) : token.raw;
    return (text_char(id, '#') && text_add(id, rest)) || too_long(id, err);
}

bool json_id(struct json_token token, struct text *out, struct err *err)
{
    AUTO_TEXT struct text id = {.max = JSON_ID_MAX};
    bool made = mark_id(token, &id, err);
    if (id.overflow)
        return err_set(err, ERR_INPUT, "id is longer than %d bytes", JSON_ID_MAX);
    if (!made || !json_id_ok(text_slice(&id), err))
        return false;
    return text_add(out, text_slice(&id)) || too_long(out, err);
}

static bool not_an_integer(struct err *err)
{
    return err_set(err, ERR_INPUT, "value is not a whole number in plain decimal form");
}

static bool is_integer(struct slice s)
{
    size_t i = s.len && s.ptr[0] == '-';
    if (i == s.len || (s.ptr[i] == '0' && s.len > i + 1))
        return false;
    for (; i < s.len; i++)
        if (s.ptr[i] < '0' || s.ptr[i] > '9')
            return false;
    return true;
}

bool json_int64(struct json_token token, int64_t *ret_value, struct err *err)
{
    struct slice s = token.raw;
    if (token.kind == JSON_KIND_STRING)
        s = (struct slice){s.ptr + 1, s.len - 2};
    else if (token.kind != JSON_KIND_NUMBER)
        return not_an_integer(err);
    if (!is_integer(s))
        return not_an_integer(err);
    char digits[24]; // -9223372036854775808 has 20 characters
    if (s.len >= sizeof digits)
        return err_set(err, ERR_INPUT, "number is beyond 64 bits");
    memcpy(digits, s.ptr, s.len);
    digits[s.len] = '\0';
    errno = 0;
    intmax_t value = strtoimax(digits, NULL, 10);
    if (errno == ERANGE || value > INT64_MAX || value < INT64_MIN)
        return err_set(err, ERR_INPUT, "number is beyond 64 bits");
    *ret_value = value;
    return true;
}

enum { PIECE = 256, ESCAPE_MAX = 6, PIECE_ROOM = PIECE * ESCAPE_MAX + 7 };

static size_t write_escape(unsigned char c, char out[ESCAPE_MAX])
{
    static const char digits[] = "0123456789abcdef";
    static const char letters[256] = {['"'] = '"',
            ['\\'] = '\\',
            ['\b'] = 'b',
            ['\f'] = 'f',
            ['\n'] = 'n',
            ['\r'] = 'r',
            ['\t'] = 't'};
    out[0] = '\\';
    out[1] = letters[c];
    if (letters[c])
        return 2;
    memcpy(out + 1, "u00", 3);
    out[4] = digits[c >> 4];
    out[5] = digits[c & 15];
    return ESCAPE_MAX;
}

// The character that s starts with, which is escaped or not ASCII; how many bytes it takes in out.
// What is no character is U+FFFD.
static size_t write_other(struct slice s, size_t *at, char out[ESCAPE_MAX])
{
    if (s.ptr[*at] < 0x80)
        return write_escape(s.ptr[(*at)++], out);
    size_t n = utf8_len(slice_from(s, *at));
    memcpy(out, n ? (const char *)s.ptr + *at : "\xEF\xBF\xBD", n ? n : 3);
    *at += n ? n : 1;
    return n ? n : 3;
}

// Texts are full of line ends and quotes: they are put together in pieces here, and not each added
// for itself.
bool json_escape(struct text *out, struct slice s)
{
    size_t before = out->len;
    for (size_t i = 0; i < s.len;) {
        char piece[PIECE_ROOM];
        size_t n = 0, end = s.len - i > PIECE ? i + PIECE : s.len;
        while (i < end) {
            size_t run = utf8_copy_plain((struct slice){s.ptr + i, end - i}, piece + n);
            i += run;
            n += run;
            if (i < end)
                n += write_other(s, &i, piece + n);
        }
        if (!text_add(out, (struct slice){(const unsigned char *)piece, n}))
            return undo(out, before);
    }
    return true;
}

bool json_quote(struct text *out, struct slice utf8)
{
    size_t before = out->len;
    return (text_char(out, '"') && json_escape(out, utf8) && text_char(out, '"')) ||
           undo(out, before);
}
