// Fuzzes the token scanner against jansson and against itself. Not built by default; from the root:
//   clang-14 -std=gnu17 -D_GNU_SOURCE -g -O1 -fsanitize=fuzzer,address,undefined -I. common/base.c
//   common/err.c \
//       common/text.c common/utf8.c common/json/*.c tests/fuzz/json_fuzz.c -ljansson -o json_fuzz
//   ./json_fuzz -max_total_time=60 -max_len=4096
#include "common/json/scan.h"

#include <assert.h>
#include <jansson.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { OUT_MAX = 1 << 20 };

static const char *const pointers[] = {"/a", "/a/b", "/0", "/a/0/b", "//", "/~0~1", "/id"};

// Whatever jansson reads strictly we accept, unless a limit of ours says no.
static void compare_with_jansson(struct slice body, bool ok, const struct err *err)
{
    // jansson takes a raw NUL behind the document for its end.
    if (body.len && memchr(body.ptr, 0, body.len))
        return;
    json_error_t error;
    json_t *json =
            json_loadb((const char *)body.ptr, body.len, JSON_DECODE_ANY | JSON_ALLOW_NUL, &error);
    assert(!json || ok || strstr(err->msg, "limit"));
    json_decref(json);
}

static void take_values(struct json_token token)
{
    AUTO_TEXT struct text out = {.max = OUT_MAX};
    AUTO_TEXT struct text quoted = {.max = 8 * OUT_MAX};
    int64_t number;
    if (json_id(token, &out, NULL))
        assert(json_id_ok(text_slice(&out), NULL));
    text_reset(&out);
    if (json_text(token, &out, NULL)) {
        // What was decoded reads back the same.
        AUTO_TEXT struct text again = {.max = OUT_MAX};
        assert(json_quote(&quoted, text_slice(&out)) && json_check(text_slice(&quoted), NULL));
        struct json_token copy = {JSON_KIND_STRING, text_slice(&quoted)};
        assert(json_text(copy, &again, NULL) && slice_eq(text_slice(&again), text_slice(&out)));
    }
    if (json_int64(token, &number, NULL) && token.kind == JSON_KIND_NUMBER)
        assert(number != 0 || token.raw.len <= 2);
}

static void walk(struct json_token token, unsigned depth)
{
    struct json_token name, value;
    take_values(token);
    for (size_t at = 0; depth < 8 && json_next(token, &at, &name, &value);)
        walk(value, depth + 1);
}

// What is left is a document again, in which the members are no longer found.
static void cut(struct slice body)
{
    AUTO_TEXT struct text out = {.max = OUT_MAX};
    struct json_result left[ARRAY_LEN(pointers)];
    for (size_t i = 0; i < ARRAY_LEN(pointers); i++) {
        text_reset(&out);
        assert(json_without(body, &pointers[i], 1, &out, NULL) && out.len <= body.len);
        assert(json_find(text_slice(&out), &pointers[i], 1, left, NULL));
        // In an array the next element moves up; a path with a twin on it may still be found.
        bool is_array_path = strchr(pointers[i], '0') != NULL;
        assert(is_array_path || left[0].found != JSON_FOUND);
    }
    text_reset(&out);
    assert(json_without(body, pointers, ARRAY_LEN(pointers), &out, NULL));
    assert(json_check(text_slice(&out), NULL));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct json_result results[ARRAY_LEN(pointers)];
    struct slice body = {data, size};
    struct err err = {0};
    bool ok = json_find(body, pointers, ARRAY_LEN(pointers), results, &err);
    assert(ok == json_check(body, NULL));
    compare_with_jansson(body, ok, &err);
    if (!ok)
        return 0;
    const char *root_pointer = "";
    struct json_result root;
    assert(json_find(body, &root_pointer, 1, &root, NULL));
    walk(root.token, 0);
    cut(body);
    // A pointer that fits a whole text is quoted whole, whatever the bytes are.
    AUTO_TEXT struct text quoted = {.max = 8 * OUT_MAX};
    assert(json_quote(&quoted, body) && json_check(text_slice(&quoted), NULL));
    return 0;
}
