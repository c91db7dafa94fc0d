#include "common/utf8.h"
#include "tests/test.h"

static bool is_plain(unsigned char c)
{
    return c >= 0x20 && c < 0x7F && c != '"' && c != '\\';
}

// Eight bytes are looked at together: each byte in each place beside each neighbour of note.
static void a_plain_run_ends_at_the_first_byte_that_is_not(void **state)
{
    (void)state;
    static const unsigned char before[] = {' ', '!', '#', '[', ']', '~', 'a', 0x7E, 0x20};
    for (int c = 0; c < 256; c++) {
        for (size_t at = 0; at < 20; at++) {
            for (size_t b = 0; b < sizeof before; b++) {
                unsigned char text[24];
                memset(text, before[b], sizeof text);
                text[at] = (unsigned char)c;
                size_t want = is_plain((unsigned char)c) ? sizeof text : at;
                char out[sizeof text + 7];
                assert_int_equal(utf8_copy_plain((struct slice){text, sizeof text}, out), want);
                assert_memory_equal(out, text, want);
                assert_int_equal(utf8_copy_plain((struct slice){text, at}, out), at);
                assert_memory_equal(out, text, at);
            }
        }
    }
    char none[8];
    assert_int_equal(utf8_copy_plain((struct slice){0}, none), 0);
}

static void text_is_ok_when_each_character_is_one(void **state)
{
    (void)state;
    static const struct {
        const char *name, *text;
        bool want;
    } rows[] = {
            {"nothing", "", true},
            {"ascii", "exactly eight bytes and some more\r\n\t\x7f", true},
            {"an umlaut", "12345678\xC3\xBC", true},
            {"an umlaut over the eighth byte", "1234567\xC3\xBC", true},
            {"cut in two", "1234567\xC3", false},
            {"cut in two, then ascii", "\xC3 12345678", false},
            {"a stray byte after eight", "12345678\xBC", false},
            {"a stray byte as the eighth", "1234567\xBC", false},
            {"overlong", "12345678\xC0\xAF", false},
            {"a surrogate", "\xED\xA0\x80 12345678", false},
            {"the last character", "12345678\xF4\x8F\xBF\xBF", true},
            {"above the last", "12345678\xF4\x90\x80\x80", false},
            {"emoji alone", "\xF0\x9F\x98\x80\xF0\x9F\x98\x80\xF0\x9F\x98\x80", true},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        assert_row(utf8_ok(slice_of(rows[i].text)) == rows[i].want, rows[i].name);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(a_plain_run_ends_at_the_first_byte_that_is_not),
            cmocka_unit_test(text_is_ok_when_each_character_is_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
