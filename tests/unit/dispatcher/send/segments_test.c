#include "common/text.h"
#include "dispatcher/send/segments.h"
#include "tests/test.h"

// A text is `n` times `unit` and then `rest`.
static const struct row {
    const char *name, *unit;
    size_t n;
    const char *rest;
    enum segment_coding coding;
    size_t units, parts;
} table[] = {
        {"nothing", "", 0, "", SEGMENTS_GSM7, 0, 0},
        {"one letter", "a", 1, "", SEGMENTS_GSM7, 1, 1},
        {"160 letters", "a", 160, "", SEGMENTS_GSM7, 160, 1},
        {"161 letters", "a", 161, "", SEGMENTS_GSM7, 161, 2},
        {"306 letters", "a", 306, "", SEGMENTS_GSM7, 306, 2},
        {"307 letters", "a", 307, "", SEGMENTS_GSM7, 307, 3},
        {"accents of the alphabet", "\u00e9\u00e4\u00d1\u00bf\u0394\u03a9", 1, "", SEGMENTS_GSM7, 6,
                1},
        {"at, dollar, underscore, yen", "@$_\u00a5", 1, "", SEGMENTS_GSM7, 4, 1},
        {"line ends", "\n", 2, "\r", SEGMENTS_GSM7, 3, 1},
        {"every extension character", "^{}\\[~]|\u20ac\f", 1, "", SEGMENTS_GSM7, 20, 1},
        {"80 euros", "\u20ac", 80, "", SEGMENTS_GSM7, 160, 1},
        {"an escape pair at the end", "a", 159, "\u20ac", SEGMENTS_GSM7, 161, 2},
        {"an escape pair is not split", "a", 152, "\u20acaaaaaaaaaa", SEGMENTS_GSM7, 164, 2},
        // 76 pairs fill 152 of 153 septets: one is lost in every part.
        {"153 euros lose a septet a part", "\u20ac", 153, "", SEGMENTS_GSM7, 306, 3},
        {"70 characters", "\u0436", 70, "", SEGMENTS_UCS2, 70, 1},
        {"71 characters", "\u0436", 71, "", SEGMENTS_UCS2, 71, 2},
        {"134 characters", "\u0436", 134, "", SEGMENTS_UCS2, 134, 2},
        {"135 characters", "\u0436", 135, "", SEGMENTS_UCS2, 135, 3},
        {"a grave accent is not in it", "a", 70, "`", SEGMENTS_UCS2, 71, 2},
        {"c with a cedilla, small, is not", "\u00e7", 1, "", SEGMENTS_UCS2, 1, 1},
        {"a tab is not", "\t", 1, "", SEGMENTS_UCS2, 1, 1},
        {"a typographic apostrophe is not", "a", 69, "\u2019", SEGMENTS_UCS2, 70, 1},
        {"35 emoji", "\U0001f600", 35, "", SEGMENTS_UCS2, 70, 1},
        {"36 emoji", "\U0001f600", 36, "", SEGMENTS_UCS2, 72, 2},
        // 33 pairs fill 66 of 67 units.
        {"67 emoji are three parts", "\U0001f600", 67, "", SEGMENTS_UCS2, 134, 3},
        {"a surrogate pair is not split", "\u0436", 66, "\U0001f600\u0436\u0436\u0436\u0436",
                SEGMENTS_UCS2, 72, 2},
        {"a family of emoji joined", "\U0001f468\u200d\U0001f469\u200d\U0001f467", 1, "",
                SEGMENTS_UCS2, 8, 1},
};

static void counts_units_and_parts(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(table); i++) {
        const struct row *row = &table[i];
        AUTO_TEXT struct text text = {0};
        struct segments got;
        text_init(&text, 4096);
        for (size_t n = 0; n < row->n; n++)
            assert_true(text_str(&text, row->unit));
        assert_true(text_str(&text, row->rest));
        assert_row(segments_count(text_slice(&text), &got, NULL), row->name);
        assert_row(got.coding == row->coding, row->name);
        assert_row(got.units == row->units, row->name);
        assert_row(got.parts == row->parts, row->name);
    }
}

// Row 20 of the list of bugs of others: it was counted as 139 units.
static void extension_characters_are_one_unit_once_the_text_is_ucs2(void **state)
{
    (void)state;
    struct segments got;
    assert_true(segments_count(slice_of("||||\u221e^|||"), &got, NULL));
    assert_int_equal(got.coding, SEGMENTS_UCS2);
    assert_int_equal(got.units, 9);
    assert_int_equal(got.parts, 1);
}

// The same row: emoji counted as one, and counts of the URL-encoded text.
static void an_emoji_is_two_units_and_a_percent_sign_one(void **state)
{
    (void)state;
    struct segments got;
    assert_true(segments_count(slice_of("\U0001f389"), &got, NULL));
    assert_int_equal(got.units, 2);
    assert_true(segments_count(slice_of("100 % & mehr"), &got, NULL));
    assert_int_equal(got.units, 12);
}

static void refuses_what_is_not_utf8(void **state)
{
    (void)state;
    static const char *const bad[] = {
            "\xff", "a\xc3", "\xed\xa0\x80", "\xc0\x80", "\xf4\x90\x80\x80"};
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct segments got;
        struct err err = {0};
        assert_row(!segments_count(slice_of(bad[i]), &got, &err), bad[i]);
        assert_int_equal(err.kind, ERR_INPUT);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(counts_units_and_parts),
            cmocka_unit_test(extension_characters_are_one_unit_once_the_text_is_ucs2),
            cmocka_unit_test(an_emoji_is_two_units_and_a_percent_sign_one),
            cmocka_unit_test(refuses_what_is_not_utf8),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
