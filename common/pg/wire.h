// wire.h: PostgreSQL's binary array format, built and read by hand, and its big-endian integers.
// Source: array_recv() and array_send() of PostgreSQL; only one-dimensional arrays.
#pragma once
#include "common/text.h"

// Type numbers of the element types (pg_type.dat; fixed for ever).
enum wire_oid {
    WIRE_BOOL = 16,
    WIRE_BYTEA = 17,
    WIRE_INT8 = 20,
    WIRE_INT4 = 23,
    WIRE_TEXT = 25,
    WIRE_FLOAT8 = 701,
    WIRE_UUID = 2950,
};

void wire_put32(unsigned char *out, uint32_t v);
void wire_put64(unsigned char *out, uint64_t v);
// A signed integer of 2, 4 or 8 bytes; 0 for any other length.
int64_t wire_int(struct slice bytes);

// An array that is being appended to a buffer. A full buffer is seen in text.overflow.
struct wire_array {
    size_t start; // where its header is
    enum wire_oid oid;
    uint32_t count;
    bool nulls;
};
void wire_begin(struct wire_array *array, enum wire_oid oid, struct text *out);
void wire_element(struct wire_array *array, struct slice bytes, struct text *out);
void wire_null(struct wire_array *array, struct text *out);
void wire_end(struct wire_array *array, struct text *out); // fills the header in

// Elements of a received array; 0 for an empty, broken or several-dimensional one.
size_t wire_count(struct slice array);

// Where the last read ended, so that reading all elements in order is linear. Zeroed at first.
struct wire_cursor {
    const unsigned char *array;
    size_t index, offset;
};
// Element i, ptr NULL when it is NULL or not there; borrowed from array.
struct slice wire_at(struct slice array, size_t i, struct wire_cursor *cursor);
