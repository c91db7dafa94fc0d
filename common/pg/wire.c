#include "common/pg/wire.h"

#include <endian.h>

enum { HEADER = 20, EMPTY_HEADER = 12 };

void wire_put32(unsigned char *out, uint32_t v)
{
    uint32_t big = htobe32(v);
    memcpy(out, &big, sizeof big);
}

void wire_put64(unsigned char *out, uint64_t v)
{
    uint64_t big = htobe64(v);
    memcpy(out, &big, sizeof big);
}

static uint32_t get32(const unsigned char *ptr)
{
    uint32_t big;
    memcpy(&big, ptr, sizeof big);
    return be32toh(big);
}

int64_t wire_int(struct slice bytes)
{
    uint64_t big64;
    uint16_t big16;
    switch (bytes.len) {
    case 2:
        memcpy(&big16, bytes.ptr, sizeof big16);
        return (int16_t)be16toh(big16);
    case 4:
        return (int32_t)get32(bytes.ptr);
    case 8:
        memcpy(&big64, bytes.ptr, sizeof big64);
        return (int64_t)be64toh(big64);
    default:
        return 0;
    }
}

void wire_begin(struct wire_array *array, enum wire_oid oid, struct text *out)
{
    unsigned char header[HEADER] = {0};
    *array = (struct wire_array){.start = out->len, .oid = oid};
    text_add(out, (struct slice){header, sizeof header});
}

void wire_element(struct wire_array *array, struct slice bytes, struct text *out)
{
    unsigned char len[4];
    wire_put32(len, (uint32_t)bytes.len);
    array->count++;
    if (text_add(out, (struct slice){len, sizeof len}) && bytes.len > 0)
        text_add(out, bytes);
}

void wire_null(struct wire_array *array, struct text *out)
{
    unsigned char len[4];
    wire_put32(len, UINT32_MAX);
    array->count++;
    array->nulls = true;
    text_add(out, (struct slice){len, sizeof len});
}

void wire_end(struct wire_array *array, struct text *out)
{
    if (out->overflow)
        return;
    unsigned char *header = (unsigned char *)out->ptr + array->start;
    wire_put32(header, array->count > 0);
    wire_put32(header + 4, array->nulls);
    wire_put32(header + 8, array->oid);
    if (array->count == 0) { // no dimension, so none is described
        out->len = array->start + EMPTY_HEADER;
        return;
    }
    wire_put32(header + 12, array->count);
    wire_put32(header + 16, 1); // lower bound
}

size_t wire_count(struct slice array)
{
    if (array.len < HEADER || get32(array.ptr) != 1)
        return 0;
    size_t count = get32(array.ptr + 12);
    return count <= (array.len - HEADER) / 4 ? count : 0;
}

// The length of the element at offset, or -1 for NULL; false when it does not lie in the array.
static bool element_len(struct slice array, size_t offset, int64_t *ret_len)
{
    if (array.len - offset < 4)
        return false;
    int64_t len = (int32_t)get32(array.ptr + offset);
    if (len > (int64_t)(array.len - offset - 4))
        return false;
    *ret_len = len;
    return true;
}

struct slice wire_at(struct slice array, size_t i, struct wire_cursor *cursor)
{
    const struct slice none = {NULL, 0};
    if (i >= wire_count(array))
        return none;
    if (cursor->array != array.ptr || cursor->index > i)
        *cursor = (struct wire_cursor){array.ptr, 0, HEADER};
    int64_t len = -1;
    while (element_len(array, cursor->offset, &len) && cursor->index < i) {
        cursor->offset += 4 + (size_t)(len > 0 ? len : 0);
        cursor->index++;
    }
    if (cursor->index != i || !element_len(array, cursor->offset, &len) || len < 0)
        return none;
    return (struct slice){array.ptr + cursor->offset + 4, (size_t)len};
}
