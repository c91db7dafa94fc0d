// grammar.h: walks a JSON document once, checking it, and tells a visitor of every member and
// element.
#pragma once
#include "common/json/scan.h"
#include "common/utf8.h"

// A member of an object or an element of an array, before its value is read.
struct json_item {
    unsigned depth;    // containers around it, from 1
    struct slice name; // the literal string token; ptr is NULL in an array
    size_t index;      // elements before it, for arrays
    size_t start;      // byte of its name, or of its value in an array
    size_t comma;      // byte of the comma before it; only if not first
    bool first;
};

// Both calls are paired and nest as the items do.
struct json_visitor {
    void *ctx;
    unsigned deeper; // how many more containers than JSON_DEPTH_MAX may be inside one another
    void (*enter)(void *ctx, const struct json_item *item);
    void (*leave)(void *ctx, const struct json_item *item, struct json_token value);
};

// Checks body as json_check does; visitor may be NULL. ret_root is the document's own token.
MUST_CHECK bool json_walk(struct slice body, const struct json_visitor *visitor,
        struct json_token *ret_root, struct err *err);

// One character of a checked string token's inside: decodes at *at, moves *at behind it and gives
// its code point; a lone surrogate is given as itself (0xD800..0xDFFF).
uint32_t json_char(struct slice inside, size_t *at);
