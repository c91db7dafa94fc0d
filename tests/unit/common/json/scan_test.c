#include "common/json/scan.h"

#include "tests/test.h"

#include <stdio.h>

static void checks_documents_strictly(void **state)
{
    (void)state;
    const struct {
        const char *name;
        struct slice input;
        bool want;
    } rows[] = {
            {"an object", SLICE(" {\"a\" : [1, -0.5e+3, true, false, null, \"x\"]}\r\n\t"), true},
            {"a scalar alone", SLICE("1"), true},
            {"a string alone", SLICE("\"\""), true},
            {"empty containers", SLICE("[{ },[ ]]"), true},
            {"all escapes", SLICE("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\""), true},
            {"\\u0000 is valid JSON", SLICE("\"\\u0000\""), true},
            {"a lone surrogate escape is valid JSON", SLICE("\"\\ud800\""), true},
            {"four byte character", SLICE("\"\xF0\x9F\x93\xA6\""), true},
            {"DEL may stand in a string", SLICE("\"\x7F\""), true},
            {"zero", SLICE("[0,-0,0.0,0e0,1E5]"), true},
            {"nothing", SLICE(""), false},
            {"only space", SLICE(" \n"), false},
            {"byte order mark", SLICE("\xEF\xBB\xBF{}"), false},
            {"trailing garbage", SLICE("{} x"), false},
            {"a second document", SLICE("{}{}"), false},
            {"NUL behind the document", SLICE("{}\0"), false},
            {"NUL in a string", SLICE("\"a\0b\""), false},
            {"NUL as an escape letter", SLICE("\"\\\0\""), false},
            {"newline in a string", SLICE("\"a\nb\""), false},
            {"trailing comma in an object", SLICE("{\"a\":1,}"), false},
            {"trailing comma in an array", SLICE("[1,]"), false},
            {"leading comma", SLICE("[,1]"), false},
            {"no comma", SLICE("[1 2]"), false},
            {"no colon", SLICE("{\"a\" 1}"), false},
            {"no value", SLICE("{\"a\":}"), false},
            {"no quotes", SLICE("{a:1}"), false},
            {"single quotes", SLICE("{'a':1}"), false},
            {"a number as a name", SLICE("{1:1}"), false},
            {"comment", SLICE("{} // x"), false},
            {"unclosed object", SLICE("{\"a\":1"), false},
            {"unclosed array", SLICE("[1"), false},
            {"wrong bracket", SLICE("[1}"), false},
            {"unclosed string", SLICE("\"abc"), false},
            {"ends in an escape", SLICE("\"\\"), false},
            {"unknown escape", SLICE("\"\\x\""), false},
            {"short \\u", SLICE("\"\\u12\""), false},
            {"leading zero", SLICE("01"), false},
            {"plus sign", SLICE("+1"), false},
            {"no digits behind the point", SLICE("1."), false},
            {"no digits before the point", SLICE(".5"), false},
            {"no digits in the exponent", SLICE("1e"), false},
            {"minus alone", SLICE("-"), false},
            {"hexadecimal", SLICE("0x10"), false},
            {"NaN", SLICE("NaN"), false},
            {"Infinity", SLICE("-Infinity"), false},
            {"upper case word", SLICE("True"), false},
            {"cut word", SLICE("tru"), false},
            {"word with a tail", SLICE("nullx"), false},
            {"other white space", SLICE("\f1"), false},
            {"lone continuation byte", SLICE("\"\x80\""), false},
            {"overlong slash", SLICE("\"\xC0\xAF\""), false},
            {"overlong three bytes", SLICE("\"\xE0\x80\xAF\""), false},
            {"surrogate in UTF-8", SLICE("\"\xED\xA0\x80\""), false},
            {"beyond U+10FFFF", SLICE("\"\xF4\x90\x80\x80\""), false},
            {"cut character", SLICE("\"\xE2\x82\""), false},
            {"cut character at the end", SLICE("\"\xE2\x82"), false},
            {"Latin-1", SLICE("\"\xE9\""), false},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct err err = {0};
        assert_row(json_check(rows[i].input, &err) == rows[i].want, rows[i].name);
        assert_row(rows[i].want || err.kind == ERR_INPUT, rows[i].name);
    }
}

static void says_at_which_byte_a_document_is_broken(void **state)
{
    (void)state;
    struct err err = {0};
    assert_false(json_check(SLICE("{\"a\":1,}"), &err));
    assert_string_equal(err.msg, "json: byte 7: expected a member name");
}

static void finds_the_literal_token_of_a_pointer(void **state)
{
    (void)state;
    const struct {
        const char *name;
        const char *body;
        const char *pointer;
        enum json_found found;
        enum json_kind kind;
        const char *raw;
    } rows[] = {
            {"nested member", "{\"data\":{\"object\":{\"id\":\"x\"}}}", "/data/object/id",
                    JSON_FOUND, JSON_KIND_STRING, "\"x\""},
            {"every digit of a long number", "{\"id\":98765432109876543210.10}", "/id", JSON_FOUND,
                    JSON_KIND_NUMBER, "98765432109876543210.10"},
            {"a string of digits stays a string", "{\"id\":\"1\"}", "/id", JSON_FOUND,
                    JSON_KIND_STRING, "\"1\""},
            {"an object as it stands", "{\"a\": { \"b\" : 1 } }", "/a", JSON_FOUND,
                    JSON_KIND_OBJECT, "{ \"b\" : 1 }"},
            {"the whole document", " [1] ", "", JSON_FOUND, JSON_KIND_ARRAY, "[1]"},
            {"an element", "[[10],[20,{\"x\":null}]]", "/1/1/x", JSON_FOUND, JSON_KIND_NULL,
                    "null"},
            {"true", "{\"a\":true}", "/a", JSON_FOUND, JSON_KIND_TRUE, "true"},
            {"false", "{\"a\":false}", "/a", JSON_FOUND, JSON_KIND_FALSE, "false"},
            {"slash and tilde in a name", "{\"a/b\":{\"m~n\":1}}", "/a~1b/m~0n", JSON_FOUND,
                    JSON_KIND_NUMBER, "1"},
            {"~01 is ~1", "{\"~1\":1,\"/\":2}", "/~01", JSON_FOUND, JSON_KIND_NUMBER, "1"},
            {"empty name", "{\"\":{\"\":1}}", "//", JSON_FOUND, JSON_KIND_NUMBER, "1"},
            {"escapes in a name are decoded", "{\"\\u0069\\u0064\":1}", "/id", JSON_FOUND,
                    JSON_KIND_NUMBER, "1"},
            {"surrogate pair in a name", "{\"\\ud83d\\udce6\":1}", "/\xF0\x9F\x93\xA6", JSON_FOUND,
                    JSON_KIND_NUMBER, "1"},
            {"backslash in a pointer is itself", "{\"a\\\\n\":1,\"a\\n\":2}", "/a\\n", JSON_FOUND,
                    JSON_KIND_NUMBER, "1"},
            {"index as a member name", "{\"0\":1}", "/0", JSON_FOUND, JSON_KIND_NUMBER, "1"},
            {"a deeper twin of the name", "{\"x\":{\"id\":1},\"id\":2}", "/id", JSON_FOUND,
                    JSON_KIND_NUMBER, "2"},
            {"twins beside the path", "{\"x\":1,\"x\":2,\"id\":3}", "/id", JSON_FOUND,
                    JSON_KIND_NUMBER, "3"},
            {"same name in two elements", "[{\"id\":1},{\"id\":2}]", "/1/id", JSON_FOUND,
                    JSON_KIND_NUMBER, "2"},
            {"missing", "{\"a\":1}", "/b", JSON_MISSING, JSON_KIND_NONE, ""},
            {"a longer name", "{\"idx\":1}", "/id", JSON_MISSING, JSON_KIND_NONE, ""},
            {"a shorter name", "{\"i\":1}", "/id", JSON_MISSING, JSON_KIND_NONE, ""},
            {"NUL in a name does not end it", "{\"id\\u0000\":1}", "/id", JSON_MISSING,
                    JSON_KIND_NONE, ""},
            {"lone surrogate in a name", "{\"\\ud83d\":1}", "/\xEF\xBF\xBD", JSON_MISSING,
                    JSON_KIND_NONE, ""},
            {"through a scalar", "{\"a\":1}", "/a/b", JSON_MISSING, JSON_KIND_NONE, ""},
            {"index past the end", "[1]", "/1", JSON_MISSING, JSON_KIND_NONE, ""},
            {"index with a leading zero", "[1,2]", "/01", JSON_MISSING, JSON_KIND_NONE, ""},
            {"index - is behind the end", "[1]", "/-", JSON_MISSING, JSON_KIND_NONE, ""},
            {"huge index", "[1]", "/4294967296", JSON_MISSING, JSON_KIND_NONE, ""},
            {"name in an array", "[{\"a\":1}]", "/a", JSON_MISSING, JSON_KIND_NONE, ""},
            {"duplicate at the end", "{\"id\":1,\"id\":1}", "/id", JSON_DUPLICATE, JSON_KIND_NONE,
                    ""},
            {"duplicate on the way", "{\"a\":{\"id\":1},\"a\":{}}", "/a/id", JSON_DUPLICATE,
                    JSON_KIND_NONE, ""},
            {"duplicate that has no such member", "{\"a\":1,\"a\":{\"id\":2}}", "/a/id",
                    JSON_DUPLICATE, JSON_KIND_NONE, ""},
            {"duplicate in an escaped form", "{\"id\":1,\"\\u0069d\":2}", "/id", JSON_DUPLICATE,
                    JSON_KIND_NONE, ""},
            {"duplicate in an element", "[{\"a\":1,\"a\":2}]", "/0/a", JSON_DUPLICATE,
                    JSON_KIND_NONE, ""},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct json_result got;
        struct err err = {0};
        assert_row(
                json_find(slice_of(rows[i].body), &rows[i].pointer, 1, &got, &err), rows[i].name);
        assert_row(got.found == rows[i].found, rows[i].name);
        assert_row(got.token.kind == rows[i].kind, rows[i].name);
        assert_row(slice_eq(got.token.raw, slice_of(rows[i].raw)), rows[i].name);
    }
}

static void finds_many_pointers_in_one_pass(void **state)
{
    (void)state;
    const char *pointers[] = {"/a/b", "/a", "/a/b/0", "/z", "/c", "/a/b"};
    const char *want[] = {"[1]", "{\"b\":[1]}", "1", "", "\"x\"", "[1]"};
    struct json_result got[ARRAY_LEN(pointers)];
    struct err err = {0};
    assert_true(json_find(
            SLICE("{\"a\":{\"b\":[1]},\"c\":\"x\"}"), pointers, ARRAY_LEN(pointers), got, &err));
    for (size_t i = 0; i < ARRAY_LEN(pointers); i++)
        assert_row(slice_eq(got[i].token.raw, slice_of(want[i])), pointers[i]);
    assert_int_equal(got[3].found, JSON_MISSING);
}

static void refuses_a_body_that_breaks_behind_the_value_it_looks_for(void **state)
{
    (void)state;
    const char *pointer = "/id";
    struct json_result got;
    struct err err = {0};
    assert_false(json_find(SLICE("{\"id\":1,\"x\":\"\xFF\"}"), &pointer, 1, &got, &err));
    assert_int_equal(err.kind, ERR_INPUT);
}

static void refuses_malformed_pointers(void **state)
{
    (void)state;
    const char *bad[] = {"id", "/a~", "/a~2", "$.id", "/\xFF"};
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct json_result got;
        struct err err = {0};
        assert_row(!json_pointer_ok(bad[i], &err), bad[i]);
        assert_row(!json_find(SLICE("{}"), &bad[i], 1, &got, &err), bad[i]);
        assert_row(err.kind == ERR_INPUT, bad[i]);
    }
    assert_true(json_pointer_ok("", NULL));
    assert_true(json_pointer_ok("/a~0~1/0", NULL));
}

static void leaves_chosen_members_out(void **state)
{
    (void)state;
    const struct {
        const char *name;
        const char *body;
        const char *pointers[3];
        const char *want;
    } rows[] = {
            {"the first", "{\"r\": 2, \"a\": 1}", {"/r"}, "{\"a\": 1}"},
            {"the middle", "{\"a\":1, \"r\" : 2 ,\"b\":3}", {"/r"}, "{\"a\":1 ,\"b\":3}"},
            {"the last", "{\"a\": 1, \"r\": 2}", {"/r"}, "{\"a\": 1}"},
            {"the only one", "{ \"r\":2 }", {"/r"}, "{  }"},
            {"the first two", "{\"r\":1,\"s\":2,\"a\":3}", {"/r", "/s"}, "{\"a\":3}"},
            {"the last two", "{\"a\":3,\"r\":1,\"s\":2}", {"/r", "/s"}, "{\"a\":3}"},
            {"around a kept one", "{\"r\":1,\"a\":3,\"s\":2}", {"/s", "/r"}, "{\"a\":3}"},
            {"all", "{\"r\":1,\"s\":2,\"t\":3}", {"/r", "/s", "/t"}, "{}"},
            {"nested", "{\"a\":{\"r\":1,\"x\":[{}]},\"b\":2}", {"/a/r"},
                    "{\"a\":{\"x\":[{}]},\"b\":2}"},
            {"nested at the end", "{\"b\":2,\"a\":{\"x\":1,\"r\":1}}", {"/a/r"},
                    "{\"b\":2,\"a\":{\"x\":1}}"},
            {"inside one that goes too", "{\"a\":{\"r\":1,\"q\":2},\"b\":2}", {"/a/r", "/a"},
                    "{\"b\":2}"},
            {"inner first, outer last", "{\"b\":2,\"a\":{\"r\":1,\"q\":2}}", {"/a", "/a/q"},
                    "{\"b\":2}"},
            {"an object value", "{\"r\":{\"x\":[1,{\"y\":2}]},\"a\":1}", {"/r"}, "{\"a\":1}"},
            {"an element", "{\"a\":[1,2,3]}", {"/a/1"}, "{\"a\":[1,3]}"},
            {"twins both go", "{\"r\":1,\"a\":0,\"r\":2}", {"/r"}, "{\"a\":0}"},
            {"escaped name", "{\"\\u0072\":1,\"a\":0}", {"/r"}, "{\"a\":0}"},
            {"nothing found", " {\"a\" : \"\\u0041\"} ", {"/r"}, " {\"a\" : \"\\u0041\"} "},
            {"a sibling object after a cut", "{\"a\":{\"r\":1},\"b\":{\"x\":1,\"y\":2}}", {"/a/r"},
                    "{\"a\":{},\"b\":{\"x\":1,\"y\":2}}"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO_TEXT struct text out = {.max = 1024};
        struct err err = {0};
        size_t n = 0;
        while (n < 3 && rows[i].pointers[n])
            n++;
        assert_row(json_without(slice_of(rows[i].body), rows[i].pointers, n, &out, &err),
                rows[i].name);
        if (strcmp(text_cstr(&out), rows[i].want) != 0)
            fail_msg("case '%s': got %s", rows[i].name, text_cstr(&out));
    }
}

static void appends_nothing_when_leaving_out_fails(void **state)
{
    (void)state;
    const char *pointer = "/r";
    const char *all = "";
    struct err err = {0};
    AUTO_TEXT struct text out = {.max = 12};
    assert_true(text_str(&out, "keep"));
    assert_false(json_without(SLICE("{\"r\":1,\"abcdef\":1}"), &pointer, 1, &out, &err));
    assert_false(json_without(SLICE("{\"r\":1,"), &pointer, 1, &out, &err));
    assert_false(json_without(SLICE("{}"), &all, 1, &out, &err));
    assert_string_equal(text_cstr(&out), "keep");
}

// A body that ends where its memory ends, so that a sanitizer sees a step too far.
static struct slice exact(const struct text *text)
{
    unsigned char *copy = xmalloc(text->len);
    memcpy(copy, text->ptr, text->len);
    return (struct slice){copy, text->len};
}

static bool check_text(const struct text *text)
{
    struct slice body = exact(text);
    bool ok = json_check(body, NULL);
    free((void *)(uintptr_t)body.ptr);
    return ok;
}

static void repeat(struct text *text, const char *str, size_t n)
{
    for (size_t i = 0; i < n; i++)
        assert_true(text_str(text, str));
}

static void bounds_the_depth(void **state)
{
    (void)state;
    const struct {
        const char *name;
        size_t depth;
        bool close, want;
    } rows[] = {
            {"at the limit", JSON_DEPTH_MAX, true, true},
            {"one above", JSON_DEPTH_MAX + 1, true, false},
            {"a bomb of brackets", 100000, false, false},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO_TEXT struct text body = {.max = 4000000};
        repeat(&body, "[", rows[i].depth);
        repeat(&body, "]", rows[i].close ? rows[i].depth : 0);
        assert_row(check_text(&body) == rows[i].want, rows[i].name);
    }
}

static void bounds_the_members_and_finds_the_last_of_them(void **state)
{
    (void)state;
    AUTO_TEXT struct text body = {.max = 4000000};
    assert_true(text_str(&body, "{"));
    for (int i = 0; i < JSON_ITEMS_MAX - 1; i++)
        assert_true(text_fmt(&body, "\"m%d\":0,", i));
    size_t cut = body.len;
    assert_true(text_str(&body, "\"id\":7}"));
    const char *pointer = "/id";
    struct json_result got;
    assert_true(json_find(text_slice(&body), &pointer, 1, &got, NULL));
    assert_true(slice_eq(got.token.raw, SLICE("7")));
    body.len = cut;
    assert_true(text_str(&body, "\"id\":7,\"x\":1}"));
    assert_false(json_find(text_slice(&body), &pointer, 1, &got, NULL));
}

static void reads_a_megabyte_of_digits_as_one_token(void **state)
{
    (void)state;
    AUTO_TEXT struct text body = {.max = 4000000};
    assert_true(text_str(&body, "{\"id\":"));
    repeat(&body, "1234567890", 100000);
    assert_true(text_str(&body, "}"));
    const char *pointer = "/id";
    struct json_result got;
    int64_t value = 0;
    AUTO_TEXT struct text id = {.max = 1000};
    assert_true(json_find(text_slice(&body), &pointer, 1, &got, NULL));
    assert_int_equal(got.token.raw.len, 1000000);
    assert_false(json_int64(got.token, &value, NULL));
    assert_false(json_id(got.token, &id, NULL));
    assert_int_equal(id.len, 0);
}

static void never_reads_past_a_cut_document(void **state)
{
    (void)state;
    struct slice whole =
            SLICE("{\"a\\u00e9\xC3\xA9\":[-1.5e+7,true,false,null,\"\\ud83d\\udce6\"]}");
    for (size_t n = 0; n < whole.len; n++) {
        AUTO_TEXT struct text body = {.max = 100};
        assert_true(text_add(&body, (struct slice){whole.ptr, n}));
        if (n)
            assert_false(check_text(&body));
    }
}

static void walks_elements_and_members(void **state)
{
    (void)state;
    struct json_token array = {JSON_KIND_ARRAY, SLICE("[ 1 ,{\"a\":[2]}, \"x\" ]")};
    const char *want[] = {"1", "{\"a\":[2]}", "\"x\""};
    struct json_token name, value;
    size_t at = 0, n = 0;
    for (; json_next(array, &at, &name, &value); n++) {
        assert_true(slice_eq(value.raw, slice_of(want[n])));
        assert_int_equal(name.kind, JSON_KIND_NONE);
    }
    assert_int_equal(n, 3);

    struct json_token object = {JSON_KIND_OBJECT, SLICE("{\"a\" : 1, \"b\":{}}")};
    at = n = 0;
    for (; json_next(object, &at, &name, &value); n++)
        assert_true(slice_eq(name.raw, n ? SLICE("\"b\"") : SLICE("\"a\"")));
    assert_int_equal(n, 2);

    at = 0;
    assert_false(json_next((struct json_token){JSON_KIND_ARRAY, SLICE("[ ]")}, &at, NULL, &value));
    assert_false(json_next((struct json_token){JSON_KIND_NUMBER, SLICE("1")}, &at, NULL, &value));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(checks_documents_strictly),
            cmocka_unit_test(says_at_which_byte_a_document_is_broken),
            cmocka_unit_test(finds_the_literal_token_of_a_pointer),
            cmocka_unit_test(finds_many_pointers_in_one_pass),
            cmocka_unit_test(refuses_a_body_that_breaks_behind_the_value_it_looks_for),
            cmocka_unit_test(refuses_malformed_pointers),
            cmocka_unit_test(leaves_chosen_members_out),
            cmocka_unit_test(appends_nothing_when_leaving_out_fails),
            cmocka_unit_test(bounds_the_depth),
            cmocka_unit_test(bounds_the_members_and_finds_the_last_of_them),
            cmocka_unit_test(reads_a_megabyte_of_digits_as_one_token),
            cmocka_unit_test(never_reads_past_a_cut_document),
            cmocka_unit_test(walks_elements_and_members),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
