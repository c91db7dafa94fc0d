#include "common/utf8.h"

#include <endian.h>

static bool follows(struct slice s, size_t count, unsigned char lo, unsigned char hi)
{
    if (s.len <= count || s.ptr[1] < lo || s.ptr[1] > hi)
        return false;
    for (size_t i = 2; i <= count; i++)
        if ((s.ptr[i] & 0xC0) != 0x80)
            return false;
    return true;
}

size_t utf8_len(struct slice s)
{
    // RFC 3629 section 4: the first byte says the length and the range of the second.
    static const struct {
        unsigned char lo, hi, more, second_lo, second_hi;
    } rows[] = {
            {0xC2, 0xDF, 1, 0x80, 0xBF},
            {0xE0, 0xE0, 2, 0xA0, 0xBF},
            {0xE1, 0xEC, 2, 0x80, 0xBF},
            {0xED, 0xED, 2, 0x80, 0x9F},
            {0xEE, 0xEF, 2, 0x80, 0xBF},
            {0xF0, 0xF0, 3, 0x90, 0xBF},
            {0xF1, 0xF3, 3, 0x80, 0xBF},
            {0xF4, 0xF4, 3, 0x80, 0x8F},
    };
    if (s.len == 0)
        return 0;
    if (s.ptr[0] < 0x80)
        return 1;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (s.ptr[0] >= rows[i].lo && s.ptr[0] <= rows[i].hi)
            return follows(s, rows[i].more, rows[i].second_lo, rows[i].second_hi)
                           ? rows[i].more + 1U
                           : 0;
    return 0;
}

static bool is_plain(unsigned char c)
{
    return c >= 0x20 && c < 0x7F && c != '"' && c != '\\';
}

#define EACH_BYTE UINT64_C(0x0101010101010101)
#define EACH_HIGH UINT64_C(0x8080808080808080)

// The high bit of each byte that may be another one; never misses one, and the lowest is one: it is
// a borrow from below that makes others. Where x has no high bits, x - c borrows into the high bit
// of a byte below c, and x ^ c is 0 only where it is c.
static uint64_t not_plain(uint64_t x)
{
    uint64_t quote = x ^ EACH_BYTE * '"', backslash = x ^ EACH_BYTE * '\\',
             del = x ^ EACH_BYTE * 0x7F;
    uint64_t below = (x - EACH_BYTE * 0x20) | (quote - EACH_BYTE) | (backslash - EACH_BYTE) |
                     (del - EACH_BYTE);
    return (x | below) & EACH_HIGH;
}

static uint64_t eight(const unsigned char *bytes)
{
    uint64_t x;
    memcpy(&x, bytes, sizeof x);
    return le64toh(x); // the first is the lowest
}

size_t utf8_copy_plain(struct slice s, char *out)
{
    size_t i = 0;
    for (; s.len - i >= 8; i += 8) {
        uint64_t other = not_plain(eight(s.ptr + i));
        memcpy(out + i, s.ptr + i, 8);
        if (other)
            return i + (size_t)__builtin_ctzll(other) / 8;
    }
    for (; i < s.len && is_plain(s.ptr[i]); i++)
        out[i] = (char)s.ptr[i];
    return i;
}

bool utf8_ok(struct slice s)
{
    for (size_t i = 0, n; i < s.len; i += n) {
        if (s.len - i >= 8 && (eight(s.ptr + i) & EACH_HIGH) == 0)
            n = 8;
        else
            n = utf8_len((struct slice){s.ptr + i, s.len - i});
        if (n == 0)
            return false;
    }
    return true;
}

uint32_t utf8_code(const unsigned char *s, size_t n)
{
    static const unsigned char first_mask[] = {0, 0x7F, 0x1F, 0x0F, 0x07};
    uint32_t c = s[0] & first_mask[n];
    for (size_t i = 1; i < n; i++)
        c = c << 6 | (s[i] & 0x3FU);
    return c;
}

bool utf8_add(struct text *out, uint32_t c)
{
    unsigned char b[4];
    size_t n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    static const unsigned char first[] = {0, 0, 0xC0, 0xE0, 0xF0};
    for (size_t i = n - 1; i > 0; i--, c >>= 6)
        b[i] = (unsigned char)(0x80 | (c & 0x3F));
    b[0] = (unsigned char)(first[n] | c);
    return text_add(out, (struct slice){b, n});
}

bool utf8_has_control(struct slice text)
{
    for (size_t i = 0; i < text.len;) {
        size_t n = utf8_len((struct slice){text.ptr + i, text.len - i});
        uint32_t c = n ? utf8_code(text.ptr + i, n) : ' ';
        if (c < 0x20 || (c >= 0x7f && c <= 0x9f) || c == 0x2028 || c == 0x2029)
            return true;
        i += n ? n : 1;
    }
    return false;
}

bool utf8_is_printable_ascii(struct slice text)
{
    for (size_t i = 0; i < text.len; i++)
        if (text.ptr[i] < 0x20 || text.ptr[i] > 0x7e)
            return false;
    return true;
}
