#include "dispatcher/send/segments.h"

#include "common/utf8.h"

// The characters of the default alphabet that are not ASCII, in order.
static const uint16_t gsm_other[] = {0xA1, 0xA3, 0xA4, 0xA5, 0xA7, 0xBF, 0xC4, 0xC5, 0xC6, 0xC7,
        0xC9, 0xD1, 0xD6, 0xD8, 0xDC, 0xDF, 0xE0, 0xE4, 0xE5, 0xE6, 0xE8, 0xE9, 0xEC, 0xF1, 0xF2,
        0xF6, 0xF8, 0xF9, 0xFC, 0x393, 0x394, 0x398, 0x39B, 0x39E, 0x3A0, 0x3A3, 0x3A6, 0x3A8,
        0x3A9};

static int compare(const void *a, const void *b)
{
    return *(const uint16_t *)a - *(const uint16_t *)b;
}

// Septets of one character, 0 = not in the alphabet.
static unsigned gsm_width(uint32_t code)
{
    if (code == '\n' || code == '\r')
        return 1;
    if (code == '\f' || code == 0x20AC) // form feed, euro
        return 2;
    if (code >= 0x20 && code < 0x7f)
        return code == '`' ? 0 : strchr("[\\]^{|}~", (int)code) ? 2 : 1;
    uint16_t key = code > 0xffff ? 0 : (uint16_t)code;
    return bsearch(&key, gsm_other, ARRAY_LEN(gsm_other), sizeof key, compare) ? 1 : 0;
}

static unsigned ucs2_width(uint32_t code)
{
    return code > 0xffff ? 2 : 1;
}

// The next character; false at the end or where no UTF-8 begins.
static bool next(struct slice *rest, uint32_t *ret_code)
{
    size_t n = rest->len == 0 ? 0 : rest->ptr[0] < 0x80 ? 1 : utf8_len(*rest);
    if (n == 0)
        return false;
    *ret_code = n == 1 ? rest->ptr[0] : utf8_code(rest->ptr, n);
    rest->ptr += n;
    rest->len -= n;
    return true;
}

static bool find_coding(struct slice text, enum segment_coding *ret_coding)
{
    *ret_coding = SEGMENTS_GSM7;
    for (uint32_t code; next(&text, &code);) {
        if (gsm_width(code) == 0)
            *ret_coding = SEGMENTS_UCS2;
    }
    return text.len == 0;
}

bool segments_count(struct slice utf8, struct segments *ret_segments, struct err *err)
{
    struct segments segments = {.parts = 1};
    if (!find_coding(utf8, &segments.coding))
        return err_set(err, ERR_INPUT, "the text is not UTF-8");
    bool gsm = segments.coding == SEGMENTS_GSM7;
    size_t whole = gsm ? 160 : 70, part = gsm ? 153 : 67, used = 0;
    for (uint32_t code; next(&utf8, &code);) {
        unsigned width = gsm ? gsm_width(code) : ucs2_width(code);
        segments.units += width;
        if (used + width > part) {
            segments.parts++;
            used = 0;
        }
        used += width;
    }
    if (segments.units <= whole)
        segments.parts = segments.units > 0;
    *ret_segments = segments;
    return true;
}
