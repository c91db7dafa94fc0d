// Fuzzes the template parser and expander: a template, a NUL, a partial. Not built by default; from
// the root:
//   clang-14 -std=gnu17 -D_GNU_SOURCE -g -O1 -fsanitize=fuzzer,address,undefined -I. common/base.c
//   common/err.c \
//       common/text.c common/utf8.c common/json/*.c common/template/*.c tests/fuzz/template_fuzz.c
//       -o template_fuzz
//   ./template_fuzz -max_total_time=60 -max_len=4096
#include "common/template/template.h"

#include <assert.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { OUT_MAX = 10000 };

static const char values[] = "{\"a\":{\"b\":{\"c\":\"<&'\\\">\\r\\n\"},\"l\":[1,2.5,{\"a\":[]}]},"
                             "\"b\":\"x\",\"l\":[[1],[2,[3]]],"
                             "\"t\":true,\"f\":false,\"n\":null,\"e\":\"\"}";

static const struct template *partial(void *ctx, struct slice name)
{
    return name.len == 1 ? ctx : NULL;
}

static void count(void *ctx, const struct template_name *name)
{
    assert(name->name.len && name->line && name->col);
    ++*(size_t *)ctx;
}

static void expand(const struct template *t, struct template_how how, const struct json_node *json)
{
    AUTO_TEXT struct text out = {.max = OUT_MAX};
    struct err err = {0};
    if (!template_expand(t, &how, json, &out, &err)) {
        assert(out.len == 0 && err.kind == ERR_INPUT && strchr(err.msg, ':'));
        return;
    }
    assert(out.len <= OUT_MAX);
    for (size_t i = 0; how.part == TEMPLATE_HEADER && i < out.len; i++)
        assert(out.ptr[i] != '\r' && out.ptr[i] != '\n' && out.ptr[i] != '\0');
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct json_tree json;
    if (!json.n && !json_tree_read(&json, slice_of(values), NULL))
        abort();
    const uint8_t *nul = memchr(data, 0, size);
    struct slice main_source = {data, nul ? (size_t)(nul - data) : size};
    struct slice inner_source =
            nul ? (struct slice){nul + 1, size - main_source.len - 1} : (struct slice){0};
    struct err err = {0};
    struct template *inner = template_new("inner", inner_source, NULL);
    struct template *t = template_new("t", main_source, &err);
    size_t names = 0;
    assert(t || (err.kind == ERR_INPUT && strncmp(err.msg, "t:", 2) == 0));
    for (int part = TEMPLATE_TEXT; t && part <= TEMPLATE_JSON; part++)
        for (int lenient = 0; lenient < 2; lenient++)
            expand(t, (struct template_how){part, lenient, partial, inner}, json.nodes);
    if (t)
        template_names(t, count, &names);
    assert(names <= size);
    template_free(t);
    template_free(inner);
    return 0;
}
