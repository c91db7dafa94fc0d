#include "common/json/scan.h"

#include "tests/test.h"

static struct json_token token_of(struct slice body)
{
    const char *pointer = "";
    struct json_result got;
    struct err err = {0};
    if (!json_find(body, &pointer, 1, &got, &err))
        fail_msg("%s", err.msg);
    return got.token;
}

static void decodes_a_string_as_utf8(void **state)
{
    (void)state;
    const struct {
        const char *name;
        struct slice input;
        const char *want; // NULL: refused
    } rows[] = {
            {"plain", SLICE("\"abc\""), "abc"},
            {"empty", SLICE("\"\""), ""},
            {"short escapes", SLICE("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\""), "\"\\/\b\f\n\r\t"},
            {"\\u of each length", SLICE("\"\\u0041\\u00E9\\u20ac\\uD83d\\uDce6!\""),
                    "A\xC3\xA9\xE2\x82\xAC\xF0\x9F\x93\xA6!"},
            {"raw UTF-8 stays", SLICE("\"\xF0\x9F\x93\xA6\xC3\xA9\""), "\xF0\x9F\x93\xA6\xC3\xA9"},
            {"\\u0000", SLICE("\"a\\u0000b\""), NULL},
            {"lone high surrogate", SLICE("\"\\ud83d\""), NULL},
            {"lone low surrogate", SLICE("\"\\udce6\""), NULL},
            {"two high surrogates", SLICE("\"\\ud83d\\ud83d\\udce6\""), NULL},
            {"high surrogate before another escape", SLICE("\"\\ud83d\\n12345\""), NULL},
            {"a number", SLICE("1"), NULL},
            {"null", SLICE("null"), NULL},
            {"longer than the ceiling", SLICE("\"123456789012345678901\""), NULL},
            {"an escape at the ceiling", SLICE("\"1234567890123456789\\u00e9\""), NULL},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO_TEXT struct text out = {.max = 20};
        struct err err = {0};
        bool ok = json_text(token_of(rows[i].input), &out, &err);
        assert_row(ok == (rows[i].want != NULL), rows[i].name);
        assert_row(ok || (err.kind == ERR_INPUT && out.len == 0), rows[i].name);
        assert_row(!ok || strcmp(text_cstr(&out), rows[i].want) == 0, rows[i].name);
    }
}

static void takes_data_from_strings_numbers_and_booleans(void **state)
{
    (void)state;
    const struct {
        struct slice input;
        const char *want;
    } rows[] = {
            {SLICE("\"a b\""), "a b"},
            {SLICE("12.50"), "12.50"},
            {SLICE("true"), "true"},
            {SLICE("false"), "false"},
            {SLICE("null"), NULL},
            {SLICE("{}"), NULL},
            {SLICE("[]"), NULL},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO_TEXT struct text out = {.max = 20};
        bool ok = json_plain(token_of(rows[i].input), &out, NULL);
        assert_row(ok == (rows[i].want != NULL), (const char *)rows[i].input.ptr);
        assert_row(!ok || strcmp(text_cstr(&out), rows[i].want) == 0, rows[i].want);
    }
}

static void keeps_ids_apart_and_whole(void **state)
{
    (void)state;
    const struct {
        const char *name;
        struct slice input;
        const char *want;
    } rows[] = {
            {"a string", SLICE("\"evt_1\""), "evt_1"},
            {"a string of digits", SLICE("\"1\""), "1"},
            {"a number", SLICE("1"), "#1"},
            {"a string that looks like a number's id", SLICE("\"#1\""), "##1"},
            {"beyond a double", SLICE("98765432109876543210"), "#98765432109876543210"},
            {"the literal, not the value", SLICE("1.0"), "#1.0"},
            {"space inside", SLICE("\"a b\""), "a b"},
            {"letters of the world", SLICE("\"\xC3\xA9\xF0\x9F\x93\xA6\""),
                    "\xC3\xA9\xF0\x9F\x93\xA6"},
            {"empty", SLICE("\"\""), NULL},
            {"newline", SLICE("\"a\\nb\""), NULL},
            {"escape character", SLICE("\"\\u001b[2J\""), NULL},
            {"DEL", SLICE("\"\x7F\""), NULL},
            {"C1 control", SLICE("\"\\u0085\""), NULL},
            {"right-to-left override", SLICE("\"\\u202egnp.exe\""), NULL},
            {"line separator", SLICE("\"\\u2028\""), NULL},
            {"noncharacter", SLICE("\"\\uffff\""), NULL},
            {"\\u0000", SLICE("\"\\u0000\""), NULL},
            {"lone surrogate", SLICE("\"\\ud800\""), NULL},
            {"true", SLICE("true"), NULL},
            {"null", SLICE("null"), NULL},
            {"object", SLICE("{}"), NULL},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO_TEXT struct text out = {.max = 300};
        struct err err = {0};
        bool ok = json_id(token_of(rows[i].input), &out, &err);
        assert_row(ok == (rows[i].want != NULL), rows[i].name);
        assert_row(ok || (err.kind == ERR_INPUT && out.len == 0), rows[i].name);
        assert_row(!ok || strcmp(text_cstr(&out), rows[i].want) == 0, rows[i].name);
    }
}

static bool id_of_length(size_t len, bool as_number, struct err *err)
{
    AUTO_TEXT struct text body = {.max = 20000};
    AUTO_TEXT struct text out = {.max = 300};
    text_str(&body, as_number ? "" : "\"");
    for (size_t i = 0; i < len; i++)
        text_char(&body, '7');
    text_str(&body, as_number ? "" : "\"");
    return json_id(token_of(text_slice(&body)), &out, err) && out.len == len + as_number;
}

static void bounds_ids_at_255_bytes_with_their_mark(void **state)
{
    (void)state;
    struct err err = {0};
    assert_true(id_of_length(255, false, &err));
    assert_false(id_of_length(256, false, &err));
    assert_true(id_of_length(254, true, &err));
    assert_false(id_of_length(255, true, &err));
    assert_false(id_of_length(10240, false, &err));
    assert_string_equal(err.msg, "id is longer than 255 bytes");
}

static void reads_whole_numbers_of_64_bits(void **state)
{
    (void)state;
    const struct {
        const char *input;
        bool ok;
        int64_t want;
    } rows[] = {
            {"0", true, 0},
            {"-7", true, -7},
            {"9223372036854775807", true, INT64_MAX},
            {"-9223372036854775808", true, INT64_MIN},
            {"\"12\"", true, 12},
            {"9223372036854775808", false, 0},
            {"-9223372036854775809", false, 0},
            {"123456789012345678901234567890", false, 0},
            {"1.0", false, 0},
            {"1e3", false, 0},
            {"\"012\"", false, 0},
            {"\"\"", false, 0},
            {"\"-\"", false, 0},
            {"\" 1\"", false, 0},
            {"\"+1\"", false, 0},
            {"\"\\u0031\"", false, 0},
            {"true", false, 0},
            {"null", false, 0},
            {"[1]", false, 0},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        int64_t got = 0;
        assert_row(json_int64(token_of(slice_of(rows[i].input)), &got, NULL) == rows[i].ok,
                rows[i].input);
        assert_row(got == rows[i].want, rows[i].input);
    }
}

static void writes_strings_that_read_back(void **state)
{
    (void)state;
    const struct {
        struct slice input;
        const char *want;
    } rows[] = {
            {SLICE("a"), "\"a\""},
            {SLICE(""), "\"\""},
            {SLICE("\"\\/"), "\"\\\"\\\\/\""},
            {SLICE("\b\f\n\r\t\x01\x7F"), "\"\\b\\f\\n\\r\\t\\u0001\\u007f\""},
            {SLICE("a\0b"), "\"a\\u0000b\""},
            {SLICE("\xC3\xA9\xF0\x9F\x93\xA6"), "\"\xC3\xA9\xF0\x9F\x93\xA6\""},
            {SLICE("x\xFFy\xC3"), "\"x\xEF\xBF\xBDy\xEF\xBF\xBD\""},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO_TEXT struct text out = {.max = 100};
        assert_row(json_quote(&out, rows[i].input), rows[i].want);
        if (strcmp(text_cstr(&out), rows[i].want) != 0)
            fail_msg("want %s, got %s", rows[i].want, text_cstr(&out));
        assert_row(json_check(text_slice(&out), NULL), rows[i].want);
    }
    AUTO_TEXT struct text small = {.max = 5};
    assert_true(text_str(&small, "ab"));
    assert_false(json_quote(&small, SLICE("\n\n")));
    assert_string_equal(text_cstr(&small), "ab");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(decodes_a_string_as_utf8),
            cmocka_unit_test(takes_data_from_strings_numbers_and_booleans),
            cmocka_unit_test(keeps_ids_apart_and_whole),
            cmocka_unit_test(bounds_ids_at_255_bytes_with_their_mark),
            cmocka_unit_test(reads_whole_numbers_of_64_bits),
            cmocka_unit_test(writes_strings_that_read_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
