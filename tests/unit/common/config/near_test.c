// "Did you mean".
#include "common/config/near.h"
#include "tests/test.h"

#include <limits.h>

static void counts_edits_and_swaps(void **state)
{
    (void)state;
    static const struct {
        const char *a, *b;
        int want;
    } rows[] = {{"", "", 0}, {"abc", "abc", 0}, {"abc", "", 3}, {"once", "onse", 1},
            {"retry", "rerty", 1}, {"ab", "ba", 1}, {"kitten", "sitting", 3}, {"ca", "abc", 3},
            {"expires", "expire", 1}};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        assert_row(near_distance(rows[i].a, rows[i].b) == rows[i].want, rows[i].a);
        assert_row(near_distance(rows[i].b, rows[i].a) == rows[i].want, rows[i].b);
    }
}

static void long_words_have_no_neighbours(void **state)
{
    (void)state;
    char word[NEAR_WORD_MAX + 2];
    memset(word, 'a', sizeof word - 1);
    word[sizeof word - 1] = '\0';
    assert_int_equal(near_distance(word, word), INT_MAX);
    word[NEAR_WORD_MAX] = '\0';
    assert_int_equal(near_distance(word, word), 0);
}

static void keeps_the_nearest_within_two_edits(void **state)
{
    (void)state;
    struct near near = {0};
    near_offer(&near, "secrts", "sources");
    assert_null(near.best);
    near_offer(&near, "secrts", "secretes");
    near_offer(&near, "secrts", "secrets");
    near_offer(&near, "secrts", "secret");
    assert_string_equal(near.best, "secrets");
}

static void of_two_as_near_the_one_with_the_longer_common_start_is_meant(void **state)
{
    (void)state;
    struct near near = {0};
    near_offer(&near, "payed", "placed");
    near_offer(&near, "payed", "paid");
    assert_string_equal(near.best, "paid");
    near_offer(&near, "payed", "placed");
    assert_string_equal(near.best, "paid");
}

static void short_words_must_be_nearer(void **state)
{
    (void)state;
    struct near near = {0};
    near_offer(&near, "to", "by");
    near_offer(&near, "abc", "axy");
    assert_null(near.best);
    near_offer(&near, "smss", "sms");
    assert_string_equal(near.best, "sms");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(counts_edits_and_swaps),
            cmocka_unit_test(long_words_have_no_neighbours),
            cmocka_unit_test(keeps_the_nearest_within_two_edits),
            cmocka_unit_test(of_two_as_near_the_one_with_the_longer_common_start_is_meant),
            cmocka_unit_test(short_words_must_be_nearer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
