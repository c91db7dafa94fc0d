// Bodies as something between the provider and here may have changed them.
#include "cli/verify/ask.h"

#include <stdio.h>

static struct slice without_end(struct slice body, const char *end)
{
    size_t len = strlen(end);
    bool ends = body.len >= len && memcmp(body.ptr + body.len - len, end, len) == 0;
    return (struct slice){body.ptr, ends ? body.len - len : body.len};
}

static bool changed(struct slice body, const struct text *out)
{
    return !slice_eq(body, text_slice(out));
}

static bool cut_crlf(struct slice body, struct text *out)
{
    text_add(out, without_end(body, "\r\n"));
    return changed(body, out);
}

static bool cut_lf(struct slice body, struct text *out)
{
    text_add(out, without_end(body, "\n"));
    return changed(body, out);
}

static bool add_lf(struct slice body, struct text *out)
{
    return text_add(out, body) && text_char(out, '\n');
}

static bool add_crlf(struct slice body, struct text *out)
{
    return text_add(out, body) && text_str(out, "\r\n");
}

static bool trim(struct slice body, struct text *out)
{
    while (body.len && strchr(" \t\r\n", body.ptr[0]))
        body = (struct slice){body.ptr + 1, body.len - 1};
    while (body.len && strchr(" \t\r\n", body.ptr[body.len - 1]))
        body.len--;
    return text_add(out, body);
}

static bool cut_bom(struct slice body, struct text *out)
{
    struct slice bom = SLICE("\xef\xbb\xbf");
    if (!slice_starts(body, bom))
        return false;
    return text_add(out, (struct slice){body.ptr + bom.len, body.len - bom.len});
}

// Every `from` as `to`.
static bool replace(struct slice body, const char *from, const char *to, struct text *out)
{
    size_t len = strlen(from);
    for (size_t i = 0; i < body.len;) {
        bool here = body.len - i >= len && memcmp(body.ptr + i, from, len) == 0;
        if (here)
            text_str(out, to);
        else
            text_char(out, (char)body.ptr[i]);
        i += here ? len : 1;
    }
    return changed(body, out);
}

static bool crlf_to_lf(struct slice body, struct text *out)
{
    return replace(body, "\r\n", "\n", out);
}

static bool lf_to_crlf(struct slice body, struct text *out)
{
    return !slice_has(body, SLICE("\r\n")) && replace(body, "\n", "\r\n", out);
}

static bool slashes_plain(struct slice body, struct text *out)
{
    return replace(body, "\\/", "/", out);
}

static bool slashes_escaped(struct slice body, struct text *out)
{
    return !memmem(body.ptr, body.len, "\\/", 2) && replace(body, "/", "\\/", out);
}

// --- Escapes of characters that are no ASCII

static bool hex4(const unsigned char *at, unsigned *ret_unit)
{
    char digits[5] = {(char)at[0], (char)at[1], (char)at[2], (char)at[3], '\0'};
    char *end = NULL;
    *ret_unit = (unsigned)strtoul(digits, &end, 16);
    return end == digits + 4 && digits[0] != '+' && digits[0] != '-' && digits[0] != ' ';
}

static void add_utf8(unsigned code, struct text *out)
{
    if (code >= 0x10000) {
        text_char(out, (char)(0xf0 | code >> 18));
        text_char(out, (char)(0x80 | (code >> 12 & 0x3f)));
    } else if (code >= 0x800) {
        text_char(out, (char)(0xe0 | code >> 12));
    }
    if (code >= 0x800)
        text_char(out, (char)(0x80 | (code >> 6 & 0x3f)));
    else
        text_char(out, (char)(0xc0 | code >> 6));
    text_char(out, (char)(0x80 | (code & 0x3f)));
}

// \uXXXX of what is no ASCII; returns how many bytes of body it took, 0 = no such escape.
static size_t unescape(struct slice body, struct text *out)
{
    unsigned high = 0, low = 0;
    if (body.len < 6 || body.ptr[0] != '\\' || body.ptr[1] != 'u' || !hex4(body.ptr + 2, &high) ||
            high < 0x80)
        return 0;
    if (high < 0xd800 || high > 0xdfff) {
        add_utf8(high, out);
        return 6;
    }
    if (high > 0xdbff || body.len < 12 || body.ptr[6] != '\\' || body.ptr[7] != 'u' ||
            !hex4(body.ptr + 8, &low) || low < 0xdc00 || low > 0xdfff)
        return 0;
    add_utf8(0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00), out);
    return 12;
}

static bool escapes_decoded(struct slice body, struct text *out)
{
    for (size_t i = 0; i < body.len;) {
        struct slice rest = {body.ptr + i, body.len - i};
        size_t taken = unescape(rest, out);
        bool pair = !taken && rest.len > 1 && rest.ptr[0] == '\\';
        if (!taken)
            text_add(out, (struct slice){rest.ptr, pair ? 2 : 1});
        i += taken ? taken : pair ? 2 : 1;
    }
    return changed(body, out);
}

// The bytes of one character behind its first, by RFC 3629; 0 = it is no first byte.
static size_t utf8_code(struct slice text, unsigned *ret_code)
{
    unsigned char first = text.ptr[0];
    size_t n = first >= 0xf0 && first < 0xf8 ? 4 : first >= 0xe0 ? 3 : first >= 0xc2 ? 2 : 0;
    if (n == 0 || first >= 0xf8 || text.len < n)
        return 0;
    unsigned code = first & (0xffu >> (n + 1));
    for (size_t i = 1; i < n; i++)
        code = code << 6 | (text.ptr[i] & 0x3f);
    *ret_code = code;
    return n;
}

static bool escapes_written(struct slice body, struct text *out)
{
    for (size_t i = 0; i < body.len;) {
        unsigned code = 0;
        size_t n = body.ptr[i] < 0x80
                           ? 0
                           : utf8_code((struct slice){body.ptr + i, body.len - i}, &code);
        if (n == 0)
            text_char(out, (char)body.ptr[i]);
        else if (code < 0x10000)
            text_fmt(out, "\\u%04x", code);
        else
            text_fmt(out, "\\u%04x\\u%04x", 0xd800 + ((code - 0x10000) >> 10),
                    0xdc00 + ((code - 0x10000) & 0x3ff));
        i += n ? n : 1;
    }
    return changed(body, out);
}

// --- White space

// Without the white space that stands outside of strings; with `space`, one blank behind each ':'
// and ',', as Python's json.dumps writes.
static bool rewrite(struct slice body, bool space, struct text *out)
{
    bool in_string = false;
    for (size_t i = 0; i < body.len; i++) {
        char c = (char)body.ptr[i];
        if (in_string && c == '\\' && i + 1 < body.len) {
            text_char(out, c);
            c = (char)body.ptr[++i];
        } else if (c == '"') {
            in_string = !in_string;
        } else if (!in_string && c != '\0' && strchr(" \t\r\n", c)) {
            continue;
        }
        text_char(out, c);
        if (space && !in_string && (c == ':' || c == ','))
            text_char(out, ' ');
    }
    return changed(body, out);
}

static bool compact(struct slice body, struct text *out)
{
    return rewrite(body, false, out);
}

static bool spaced(struct slice body, struct text *out)
{
    return rewrite(body, true, out);
}

static bool spaced_ascii(struct slice body, struct text *out)
{
    AUTO_TEXT struct text first = {.len = 0};
    text_init(&first, out->max);
    rewrite(body, true, &first);
    return escapes_written(text_slice(&first), out);
}

static bool compact_decoded(struct slice body, struct text *out)
{
    AUTO_TEXT struct text first = {.len = 0}, second = {.len = 0};
    text_init(&first, out->max);
    text_init(&second, out->max);
    rewrite(body, false, &first);
    slashes_plain(text_slice(&first), &second);
    return escapes_decoded(text_slice(&second), out) || second.len != body.len;
}

static bool empty(struct slice body, struct text *out)
{
    (void)out;
    return body.len > 0;
}

const struct body_change body_changes[] = {
        {"without the trailing CRLF of the body", cut_crlf},
        {"without the trailing newline of the body", cut_lf},
        {"with a trailing newline behind the body", add_lf},
        {"with a trailing CRLF behind the body", add_crlf},
        {"without the white space around the body", trim},
        {"without the byte order mark before the body", cut_bom},
        {"with LF in place of every CRLF of the body", crlf_to_lf},
        {"with CRLF in place of every LF of the body", lf_to_crlf},
        {"after decoding escaped slashes: the body was re-serialised", slashes_plain},
        {"with escaped slashes: the body was re-serialised", slashes_escaped},
        {"after decoding \\u escapes: the body was re-serialised", escapes_decoded},
        {"with \\u escapes for what is no ASCII: the body was re-serialised", escapes_written},
        {"without white space between the JSON's tokens: the body was re-serialised", compact},
        {"with a blank behind every ':' and ',': the body was re-serialised", spaced},
        {"with blanks and \\u escapes: the body was re-serialised", spaced_ascii},
        {"without white space and escapes: the body was re-serialised", compact_decoded},
        {"with an empty body", empty},
};
const size_t body_changes_count = ARRAY_LEN(body_changes);

void ask_bodies(struct asking *asking)
{
    struct slice body = asking->request->body;
    for (size_t i = 0; i < body_changes_count; i++) {
        AUTO_TEXT struct text made = {.len = 0};
        text_init(&made, 6 * body.len + 16);
        if (!body_changes[i].make(body, &made) || made.overflow)
            continue;
        struct verify_request request = *asking->request;
        request.body = text_slice(&made);
        int index = ask(NULL, asking->source, &request);
        if (index >= 0)
            ask_found(asking, NULL, asking->source->secrets[index].credential, "%s",
                    body_changes[i].says);
    }
}
