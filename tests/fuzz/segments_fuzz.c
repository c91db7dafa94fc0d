// Fuzzes the count of short messages. tests/fuzz/test_fuzz.py builds it.
// Properties: what is UTF-8 is counted, and nothing else; UCS-2 units are the text's UTF-16 length;
// no part holds more than it can, and at most one unit of a part is left empty.
#include "dispatcher/send/segments.h"

#include <assert.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static size_t utf16_units(struct slice text)
{
    size_t units = 0;
    for (size_t i = 0; i < text.len; i++)
        units += (text.ptr[i] & 0xC0) != 0x80 ? 1 + (text.ptr[i] >= 0xF0) : 0;
    return units;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct slice text = {data, size};
    struct segments got, longer;
    struct err err = {0};
    if (!segments_count(text, &got, &err)) {
        assert(err.kind == ERR_INPUT);
        return 0;
    }
    bool gsm = got.coding == SEGMENTS_GSM7;
    size_t whole = gsm ? 160 : 70, part = gsm ? 153 : 67, units = utf16_units(text);
    assert(gsm ? got.units >= units && got.units <= 2 * units : got.units == units);
    assert((got.parts == 0) == (size == 0));
    assert((got.parts <= 1) == (got.units <= whole));
    assert(got.parts <= 1 || got.units <= got.parts * part);
    assert(got.parts <= 1 || got.units > (got.parts - 1) * (part - 1));
    // One letter more is one unit more in the same coding.
    char *more = xmalloc(size + 1);
    if (size)
        memcpy(more, data, size);
    more[size] = 'a';
    assert(segments_count((struct slice){(unsigned char *)more, size + 1}, &longer, &err));
    assert(longer.coding == got.coding && longer.units == got.units + 1);
    assert(longer.parts >= got.parts && longer.parts <= got.parts + 1);
    free(more);
    return 0;
}
