#include "common/base64.h"
#include "receiver/verify/mac.h"

static const char base64_digits[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
static const char hex_digits[] = "0123456789abcdef";

static int hex_value(unsigned char c, bool lower_only)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return !lower_only && c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

static bool hex_decode(struct slice text, bool lower_only, unsigned char *out)
{
    for (size_t i = 0; i + 1 < text.len; i += 2) {
        int high = hex_value(text.ptr[i], lower_only);
        int low = hex_value(text.ptr[i + 1], lower_only);
        if (high < 0 || low < 0)
            return false;
        out[i / 2] = (unsigned char)(high << 4 | low);
    }
    return true;
}

// Takes the padding off; false when it is not what the length asks for.
static bool base64_trim(struct slice *text)
{
    if (text->len % 4 != 0)
        return false;
    for (int i = 0; i < 2 && text->len && text->ptr[text->len - 1] == '='; i++)
        text->len--;
    return true;
}

bool encoding_decode_any(enum scheme_encoding encoding, struct slice text, unsigned char *out,
        size_t room, size_t *ret_len)
{
    if (encoding == ENCODING_BASE64)
        return base64_trim(&text) && base64_decode(text, out, room, ret_len);
    if (text.len % 2 != 0 || text.len / 2 > room)
        return false;
    *ret_len = text.len / 2;
    return hex_decode(text, encoding == ENCODING_HEX_LOWER, out);
}

bool encoding_decode(
        enum scheme_encoding encoding, struct slice text, unsigned char *out, size_t want)
{
    size_t len = 0;
    return encoding_decode_any(encoding, text, out, want, &len) && len == want;
}

static bool base64_encode(struct slice bytes, struct text *out)
{
    for (size_t i = 0; i < bytes.len; i += 3) {
        size_t n = bytes.len - i < 3 ? bytes.len - i : 3;
        uint32_t bits = (uint32_t)bytes.ptr[i] << 16;
        bits |= n > 1 ? (uint32_t)bytes.ptr[i + 1] << 8 : 0;
        bits |= n > 2 ? bytes.ptr[i + 2] : 0;
        char four[4] = {base64_digits[bits >> 18], base64_digits[bits >> 12 & 63],
                n > 1 ? base64_digits[bits >> 6 & 63] : '=',
                n > 2 ? base64_digits[bits & 63] : '='};
        if (!text_add(out, (struct slice){(const unsigned char *)four, sizeof four}))
            return false;
    }
    return true;
}

bool encoding_encode(enum scheme_encoding encoding, struct slice bytes, struct text *out)
{
    if (encoding == ENCODING_BASE64)
        return base64_encode(bytes, out);
    for (size_t i = 0; i < bytes.len; i++) {
        char two[2] = {hex_digits[bytes.ptr[i] >> 4], hex_digits[bytes.ptr[i] & 15]};
        if (!text_add(out, (struct slice){(const unsigned char *)two, sizeof two}))
            return false;
    }
    return true;
}
