#include "tests/test.h"

#include "common/pg/wire.h"

static struct slice built(struct text *out, enum wire_oid oid, const char *const *items, size_t n)
{
    struct wire_array array;
    size_t start = out->len;
    wire_begin(&array, oid, out);
    for (size_t i = 0; i < n; i++) {
        if (items[i])
            wire_element(&array, slice_of(items[i]), out);
        else
            wire_null(&array, out);
    }
    wire_end(&array, out);
    return (struct slice){(unsigned char *)out->ptr + start, out->len - start};
}

// What PostgreSQL 15 itself sends: COPY (SELECT ..) TO .. (FORMAT binary).
static void an_array_has_the_bytes_of_the_server(void **state)
{
    (void)state;
    const char *const items[] = {"a", NULL, ""};
    const struct {
        const char *name;
        enum wire_oid oid;
        size_t n;
        struct slice want;
    } rows[] = {
            {"ARRAY['a',NULL,'']::text[]", WIRE_TEXT, 3,
                    SLICE("\0\0\0\1\0\0\0\1\0\0\0\x19\0\0\0\3\0\0\0\1\0\0\0\1"
                          "a\xff\xff\xff\xff\0\0\0\0")},
            {"ARRAY['a']::bytea[]", WIRE_BYTEA, 1,
                    SLICE("\0\0\0\1\0\0\0\0\0\0\0\x11\0\0\0\1\0\0\0\1\0\0\0\1"
                          "a")},
            {"'{}'::uuid[]", WIRE_UUID, 0, SLICE("\0\0\0\0\0\0\0\0\0\0\x0b\x86")},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct text out AUTO_TEXT;
        text_init(&out, 1000);
        text_str(&out, "before");
        struct slice got = built(&out, rows[i].oid, items, rows[i].n);
        assert_row(slice_eq(got, rows[i].want), rows[i].name);
        assert_row(wire_count(got) == rows[i].n, rows[i].name);
    }
}

static void elements_are_found_in_any_order(void **state)
{
    (void)state;
    const char *const items[] = {"one", NULL, "", "four"};
    struct text out AUTO_TEXT;
    text_init(&out, 1000);
    struct slice array = built(&out, WIRE_TEXT, items, 4);
    struct wire_cursor cursor = {0};
    const size_t order[] = {0, 1, 2, 3, 0, 3, 2, 1};
    for (size_t i = 0; i < ARRAY_LEN(order); i++) {
        const char *want = items[order[i]];
        struct slice got = wire_at(array, order[i], &cursor);
        assert_int_equal(got.ptr != NULL, want != NULL);
        assert_true(slice_eq(got, slice_of(want)));
    }
    assert_null(wire_at(array, 4, &cursor).ptr);
}

static void a_broken_array_has_no_elements(void **state)
{
    (void)state;
    const struct {
        const char *name;
        struct slice input;
    } rows[] = {
            {"nothing", {NULL, 0}},
            {"cut header", SLICE("\0\0\0\1\0\0\0\0\0\0\0\x19")},
            {"two dimensions", SLICE("\0\0\0\2\0\0\0\0\0\0\0\x19\0\0\0\1\0\0\0\1\0\0\0\1\0\0\0\1")},
            {"count larger than the bytes",
                    SLICE("\0\0\0\1\0\0\0\0\0\0\0\x19\x7f\xff\xff\xff\0\0\0\1\0\0\0\1"
                          "a")},
            {"element longer than the bytes",
                    SLICE("\0\0\0\1\0\0\0\0\0\0\0\x19\0\0\0\1\0\0\0\1\0\0\0\2"
                          "a")},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct wire_cursor cursor = {0};
        assert_row(wire_at(rows[i].input, 0, &cursor).ptr == NULL, rows[i].name);
    }
}

static void a_full_buffer_is_seen(void **state)
{
    (void)state;
    const char *const items[] = {"more than fits"};
    struct text out AUTO_TEXT;
    text_init(&out, 30);
    built(&out, WIRE_TEXT, items, 1);
    assert_true(out.overflow);
}

static void integers_keep_their_sign(void **state)
{
    (void)state;
    const struct {
        const char *name;
        struct slice input;
        int64_t want;
    } rows[] = {
            {"int2", SLICE("\xff\xfe"), -2},
            {"int4", SLICE("\x80\0\0\0"), INT32_MIN},
            {"int8", SLICE("\x7f\xff\xff\xff\xff\xff\xff\xff"), INT64_MAX},
            {"nothing", SLICE(""), 0},
            {"three bytes", SLICE("\1\1\1"), 0},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        assert_row(wire_int(rows[i].input) == rows[i].want, rows[i].name);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(an_array_has_the_bytes_of_the_server),
            cmocka_unit_test(elements_are_found_in_any_order),
            cmocka_unit_test(a_broken_array_has_no_elements),
            cmocka_unit_test(a_full_buffer_is_seen),
            cmocka_unit_test(integers_keep_their_sign),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
