#include "common/base64url.h"

static int digit_value(unsigned char c)
{
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 26;
    if (c >= '0' && c <= '9')
        return c - '0' + 52;
    return c == '-' ? 62 : c == '_' ? 63 : -1;
}

bool base64url_decode(struct slice text, unsigned char *out, size_t room, size_t *ret_len)
{
    uint32_t bits = 0;
    int held = 0;
    size_t n = 0;
    if (text.len % 4 == 1 || text.len / 4 * 3 + text.len % 4 * 3 / 4 > room)
        return false;
    for (size_t i = 0; i < text.len; i++) {
        int value = digit_value(text.ptr[i]);
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
