#include "dispatcher/send/encode.h"

#include "common/utf8.h"
#include "tests/test.h"

#include <openssl/evp.h>
#include <stdio.h>

#define SUBJECT 9 // strlen("Subject: ")

static char *unstructured(const char *value, size_t column)
{
    struct text out;
    text_init(&out, 1 << 16);
    assert_true(encode_unstructured(slice_of(value), column, &out));
    return text_steal(&out);
}

static void writes_plain_subjects_as_they_are(void **state)
{
    (void)state;
    static const struct {
        const char *input, *want;
    } rows[] = {
            {"", ""},
            {"Your order", "Your order"},
            {"a = b? (c) <d> \"e\"", "a = b? (c) <d> \"e\""},
            {"1234567890123456789012345678901234567890123456789012345678901234567",
                    "1234567890123456789012345678901234567890123456789012345678901234567"},
            {"one two three four five six seven eight nine ten eleven twelve thirteen fourteen",
                    "one two three four five six seven eight nine ten eleven twelve\r\n"
                    " thirteen fourteen"},
            {" led", "=?UTF-8?B?IGxlZA==?="},
            {"trailed ", "=?UTF-8?B?dHJhaWxlZCA=?="},
            {"=?UTF-8?B?AAAA?=", "=?UTF-8?B?PT9VVEYtOD9CP0FBQUE/PQ==?="},
            {"Grüße", "=?UTF-8?B?R3LDvMOfZQ==?="},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO_FREE char *got = unstructured(rows[i].input, SUBJECT);
        assert_row(strcmp(got, rows[i].want) == 0, rows[i].input);
    }
}

// Decodes encoded-words as a reader does, each alone; fails unless every word and line is within
// its bound and every word holds whole characters.
static char *decode(const char *encoded, size_t column)
{
    struct text out;
    text_init(&out, 1 << 16);
    AUTO_FREE char *copy = xstrdup(encoded);
    char *rest = copy, *line;
    while ((line = strsep(&rest, "\n"))) {
        size_t len = strcspn(line, "\r");
        assert_in_range(column + len, 1, 76);
        column = 0;
        char *word = strstr(line, "=?UTF-8?B?");
        if (!word)
            continue;
        size_t word_len = len - (size_t)(word - line);
        assert_in_range(word_len, 13, 75);
        word[word_len - 2] = '\0';
        unsigned char bytes[64];
        const char *base64 = word + 10;
        int n = EVP_DecodeBlock(bytes, (const unsigned char *)base64, (int)strlen(base64));
        for (size_t pad = strlen(base64); pad && base64[pad - 1] == '='; pad--)
            n--;
        struct slice decoded = {bytes, (size_t)n};
        assert_true(n > 0 && text_is_utf8(decoded));
        assert_true(text_add(&out, decoded));
    }
    return text_steal(&out);
}

static void no_encoded_word_is_too_long_or_splits_a_character(void **state)
{
    (void)state;
    static const char *const characters[] = {"😀", "ü", "€", "aü", "a€", "ab😀", "日本語", "e\u0301"};
    for (size_t i = 0; i < ARRAY_LEN(characters); i++) {
        for (int times = 1; times <= 30; times++) {
            struct text value;
            text_init(&value, 4096);
            for (int n = 0; n < times; n++)
                assert_true(text_str(&value, characters[i]));
            for (size_t column = 4; column < 80; column += 5) {
                AUTO_FREE char *encoded = unstructured(text_cstr(&value), column > 70 ? 1 : column);
                AUTO_FREE char *back = decode(encoded, column > 70 ? 1 : column);
                assert_row(strcmp(back, text_cstr(&value)) == 0, characters[i]);
            }
            text_fini(&value);
        }
    }
}

static void forty_emoji_make_four_words(void **state)
{
    (void)state;
    struct text value;
    text_init(&value, 200);
    for (int i = 0; i < 40; i++)
        assert_true(text_str(&value, "😀"));
    AUTO_FREE char *encoded = unstructured(text_cstr(&value), SUBJECT);
    AUTO_FREE char *back = decode(encoded, SUBJECT);
    assert_string_equal(back, text_cstr(&value));
    text_fini(&value);
    int words = 0;
    for (const char *at = encoded; (at = strstr(at, "=?UTF-8?B?")); at++)
        words++;
    assert_int_equal(words, 4); // 9 + 11 + 11 + 9
}

static void quotes_display_names_where_they_need_it(void **state)
{
    (void)state;
    static const struct {
        const char *input, *want;
    } rows[] = {
            {"Example Shop", "Example Shop"},
            {"Ann B.", "\"Ann B.\""},
            {"a \"b\" \\c", "\"a \\\"b\\\" \\\\c\""},
            {"Shop, Inc.", "\"Shop, Inc.\""},
            {"Änn", "=?UTF-8?B?w4Rubg==?="},
            {"evil@example.org", "\"evil@example.org\""},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct text out;
        text_init(&out, 500);
        assert_row(encode_phrase(slice_of(rows[i].input), 6, &out), rows[i].input);
        assert_row(strcmp(text_cstr(&out), rows[i].want) == 0, rows[i].input);
        text_fini(&out);
    }
}

static void writes_quoted_printable(void **state)
{
    (void)state;
    static const struct {
        const char *name, *input, *want;
    } rows[] = {
            {"empty", "", ""},
            {"one line", "abc", "abc\r\n"},
            {"line ends of all kinds", "a\nb\r\nc\rd\n\n", "a\r\nb\r\nc\r\nd\r\n\r\n"},
            {"equals", "a=b", "a=3Db\r\n"},
            {"space and tab at the end of a line", "a \nb\t\r\nc ", "a=20\r\nb=09\r\nc=20\r\n"},
            {"space inside", "a b", "a b\r\n"},
            {"high bytes", "ü", "=C3=BC\r\n"},
            {"control", "\x01\x7f", "=01=7F\r\n"},
            {"leading dot", ".x\n..\n", ".x\r\n..\r\n"},
            {"soft break",
                    "1234567890123456789012345678901234567890123456789012345678901234567890123456",
                    "123456789012345678901234567890123456789012345678901234567890123456789012345="
                    "\r\n"
                    "6\r\n"},
            {"soft break keeps an escape whole",
                    "12345678901234567890123456789012345678901234567890123456789012345678901234=",
                    "12345678901234567890123456789012345678901234567890123456789012345678901234="
                    "\r\n"
                    "=3D\r\n"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct text out;
        text_init(&out, 4096);
        assert_row(encode_quoted_printable(slice_of(rows[i].input), &out), rows[i].name);
        assert_row(strcmp(text_cstr(&out), rows[i].want) == 0, rows[i].name);
        text_fini(&out);
    }
}

static void writes_base64_in_lines(void **state)
{
    (void)state;
    struct text out;
    text_init(&out, 4096);
    assert_true(encode_base64(slice_of("a\nb"), &out));
    assert_string_equal(text_cstr(&out), "YQ0KYg==\r\n");
    text_reset(&out);
    char body[101];
    memset(body, 'x', 100);
    body[100] = '\0';
    assert_true(encode_base64(slice_of(body), &out));
    assert_int_equal(strcspn(text_cstr(&out), "\r"), 76);
    text_fini(&out);
}

static void picks_the_shorter_encoding(void **state)
{
    (void)state;
    assert_false(encode_prefers_base64(slice_of("Viele Grüße aus dem schönen Köln an euch")));
    assert_true(encode_prefers_base64(slice_of("日本語です")));
    assert_false(encode_prefers_base64(slice_of("")));
}

static void a_full_buffer_is_an_error(void **state)
{
    (void)state;
    for (size_t max = 0; max < 30; max++) {
        struct text out;
        text_init(&out, max);
        assert_false(encode_unstructured(slice_of("Grüße an alle Leute"), SUBJECT, &out));
        assert_false(encode_phrase(slice_of("Ann, \"B\" and so on, and on and on"), 6, &out));
        assert_false(
                encode_quoted_printable(slice_of("1234567890\nabcdefghijklmnopqrstuvw"), &out));
        assert_false(encode_base64(slice_of("1234567890\nabcdefghijklmnopqrstuvw"), &out));
        text_fini(&out);
    }
}

static void knows_utf8_and_controls(void **state)
{
    (void)state;
    assert_true(text_is_utf8(slice_of("aü€😀")));
    assert_false(text_is_utf8(slice_of("\xc0\x80")));
    assert_false(text_is_utf8(slice_of("\xe2\x82")));
    assert_true(text_has_control(slice_of("a\tb")));
    assert_true(text_has_control((struct slice){(const unsigned char *)"a\0b", 3}));
    assert_false(text_has_control(slice_of("aü")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(writes_plain_subjects_as_they_are),
            cmocka_unit_test(no_encoded_word_is_too_long_or_splits_a_character),
            cmocka_unit_test(forty_emoji_make_four_words),
            cmocka_unit_test(quotes_display_names_where_they_need_it),
            cmocka_unit_test(writes_quoted_printable),
            cmocka_unit_test(writes_base64_in_lines),
            cmocka_unit_test(picks_the_shorter_encoding),
            cmocka_unit_test(a_full_buffer_is_an_error),
            cmocka_unit_test(knows_utf8_and_controls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
