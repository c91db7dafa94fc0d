#include "dispatcher/send/encode.h"

#include "common/utf8.h"

#include <ctype.h>
#include <openssl/evp.h>

#define LINE_MAX_CHARS 76 // RFC 2047 2: of a line that holds an encoded-word; RFC 2045 6.7 and 6.8
#define WORD_MAX_CHARS 75 // RFC 2047 2
#define BASE64_LINE_BYTES 57 // 76 characters
#define QUOTED_MAX 60

static const char word_start[] = "=?UTF-8?B?";
static const char word_end[] = "?=";
#define WORD_FRAME (sizeof word_start - 1 + sizeof word_end - 1)

bool text_is_ascii(struct slice text)
{
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] >= 0x80)
            return false;
    }
    return true;
}

bool text_has_control(struct slice text)
{
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] < 0x20 || text.ptr[i] == 0x7f)
            return true;
    }
    return false;
}

static struct slice skip(struct slice s, size_t n)
{
    return (struct slice){s.ptr + n, s.len - n};
}

bool text_is_utf8(struct slice text)
{
    return utf8_ok(text);
}

// At most 57 bytes at a time.
static bool add_base64(struct slice bytes, struct text *out)
{
    unsigned char encoded[LINE_MAX_CHARS + 1];
    int len = EVP_EncodeBlock(encoded, bytes.ptr, (int)bytes.len);
    return text_add(out, (struct slice){encoded, (size_t)len});
}

// As many whole characters as fit into one encoded-word of at most room characters.
static size_t word_bytes(struct slice value, size_t room)
{
    size_t max = room > WORD_FRAME ? (room - WORD_FRAME) / 4 * 3 : 0;
    size_t n = 0;
    while (n < value.len) {
        size_t next = utf8_len(skip(value, n));
        if (next == 0 || n + next > max)
            break;
        n += next;
    }
    return n;
}

static bool encode_words(struct slice value, size_t column, struct text *out)
{
    while (value.len) {
        size_t room = column < LINE_MAX_CHARS ? LINE_MAX_CHARS - column : 0;
        size_t n = word_bytes(value, room < WORD_MAX_CHARS ? room : WORD_MAX_CHARS);
        if (n == 0 && column <= 1)
            return false; // not UTF-8: the caller has refused that
        if (n && (!text_str(out, word_start) || !add_base64((struct slice){value.ptr, n}, out) ||
                         !text_str(out, word_end)))
            return false;
        value = skip(value, n);
        // The space that begins a folded line is between two words, which a reader drops.
        if (value.len && !text_str(out, "\r\n "))
            return false;
        column = 1;
    }
    return true;
}

static size_t word_len(struct slice value)
{
    size_t n = 0;
    while (n < value.len && value.ptr[n] == ' ')
        n++;
    while (n < value.len && value.ptr[n] != ' ')
        n++;
    return n;
}

// Plain text survives as it is only if no line grows too long, no space is lost at its ends, and
// nothing in it looks like an encoded-word.
static bool plain_ok(struct slice value, size_t column)
{
    if (!text_is_ascii(value) || memmem(value.ptr, value.len, "=?", 2))
        return false;
    if (value.len && (value.ptr[0] == ' ' || value.ptr[value.len - 1] == ' '))
        return false;
    for (struct slice rest = value; rest.len; rest = skip(rest, word_len(rest))) {
        if (column + word_len(rest) > LINE_MAX_CHARS)
            return value.len + column <= LINE_MAX_CHARS;
        column = 1;
    }
    return true;
}

static bool fold_plain(struct slice value, size_t column, struct text *out)
{
    while (value.len) {
        size_t n = word_len(value);
        if (column + n > LINE_MAX_CHARS && value.ptr[0] == ' ') {
            column = 0;
            if (!text_str(out, "\r\n"))
                return false;
        }
        if (!text_add(out, (struct slice){value.ptr, n}))
            return false;
        column += n;
        value = skip(value, n);
    }
    return true;
}

bool encode_unstructured(struct slice value, size_t column, struct text *out)
{
    return plain_ok(value, column) ? fold_plain(value, column, out)
                                   : encode_words(value, column, out);
}

static bool is_atoms(struct slice value)
{
    for (size_t i = 0; i < value.len; i++) {
        if (!isalnum(value.ptr[i]) && !strchr("!#$%&'*+-/=?^_`{|}~ ", value.ptr[i]))
            return false;
    }
    return true;
}

static bool add_quoted(struct slice value, struct text *out)
{
    bool ok = text_char(out, '"');
    for (size_t i = 0; ok && i < value.len; i++) {
        if (value.ptr[i] == '"' || value.ptr[i] == '\\')
            ok = text_char(out, '\\');
        ok = ok && text_char(out, (char)value.ptr[i]);
    }
    return ok && text_char(out, '"');
}

bool encode_phrase(struct slice value, size_t column, struct text *out)
{
    if (!text_is_ascii(value) || memmem(value.ptr, value.len, "=?", 2) || value.len > QUOTED_MAX)
        return encode_words(value, column, out);
    if (is_atoms(value) && plain_ok(value, column))
        return fold_plain(value, column, out);
    return add_quoted(value, out);
}

// Bytes of the line end at the start of body; 0 = none.
static size_t line_end(struct slice body)
{
    if (body.len == 0 || (body.ptr[0] != '\r' && body.ptr[0] != '\n'))
        return 0;
    return body.len > 1 && body.ptr[0] == '\r' && body.ptr[1] == '\n' ? 2 : 1;
}

static bool qp_is_literal(struct slice body)
{
    unsigned char c = body.ptr[0];
    if (c == ' ' || c == '\t')
        return body.len > 1 && line_end(skip(body, 1)) == 0; // not at the end of a line
    return c > 0x20 && c < 0x7f && c != '=';
}

static bool qp_char(struct slice body, size_t *column, struct text *out)
{
    bool literal = qp_is_literal(body);
    size_t width = literal ? 1 : 3;
    // One place is kept for the "=" of a soft line break.
    if (*column + width > LINE_MAX_CHARS - 1) {
        if (!text_str(out, "=\r\n"))
            return false;
        *column = 0;
    }
    *column += width;
    return literal ? text_char(out, (char)body.ptr[0]) : text_fmt(out, "=%02X", body.ptr[0]);
}

bool encode_quoted_printable(struct slice body, struct text *out)
{
    size_t column = 0;
    while (body.len) {
        size_t end = line_end(body);
        if (!(end ? text_str(out, "\r\n") : qp_char(body, &column, out)))
            return false;
        if (end)
            column = 0;
        body = skip(body, end ? end : 1);
    }
    return column == 0 || text_str(out, "\r\n");
}

static bool canonical(struct slice body, struct text *out)
{
    while (body.len) {
        size_t end = line_end(body);
        size_t n = end;
        if (!(end ? text_str(out, "\r\n") : text_char(out, (char)body.ptr[n++])))
            return false;
        body = skip(body, n);
    }
    return true;
}

bool encode_base64(struct slice body, struct text *out)
{
    AUTO_TEXT struct text lines;
    text_init(&lines, body.len * 2 + 2);
    if (!canonical(body, &lines))
        return false;
    for (struct slice rest = text_slice(&lines); rest.len;) {
        size_t n = rest.len < BASE64_LINE_BYTES ? rest.len : BASE64_LINE_BYTES;
        if (!add_base64((struct slice){rest.ptr, n}, out) || !text_str(out, "\r\n"))
            return false;
        rest = skip(rest, n);
    }
    return true;
}

bool encode_prefers_base64(struct slice body)
{
    size_t high = 0;
    for (size_t i = 0; i < body.len; i++)
        high += body.ptr[i] >= 0x80;
    return high > body.len / 4;
}
