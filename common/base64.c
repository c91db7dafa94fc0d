#include "common/base64.h"

// last: the two digits that the alphabets differ in
static int digit_value(unsigned char c, const char last[2])
{
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 26;
    if (c >= '0' && c <= '9')
        return c - '0' + 52;
    return c == (unsigned char)last[0] ? 62 : c == (unsigned char)last[1] ? 63 : -1;
}

static bool decode(
        struct slice text, const char last[2], unsigned char *out, size_t room, size_t *ret_len)
{
    uint32_t bits = 0;
    int held = 0;
    size_t n = 0;
    if (text.len % 4 == 1 || text.len / 4 * 3 + text.len % 4 * 3 / 4 > room)
        return false;
    for (size_t i = 0; i < text.len; i++) {
        int value = digit_value(text.ptr[i], last);
        if (value < 0)
            return false;
        bits = bits << 6 | (uint32_t)value;
        held += 6;
        if (held >= 8) {
            held -= 8;
            out[n++] = (unsigned char)(bits >> held & 0xff);
        }
    }
    if (bits & ((1u << held) - 1))
        return false; // two texts of one meaning
    *ret_len = n;
    return true;
}

bool base64_decode(struct slice text, unsigned char *out, size_t room, size_t *ret_len)
{
    return decode(text, "+/", out, room, ret_len);
}

bool base64url_decode(struct slice text, unsigned char *out, size_t room, size_t *ret_len)
{
    return decode(text, "-_", out, room, ret_len);
}
