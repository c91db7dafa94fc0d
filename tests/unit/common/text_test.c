#include "common/text.h"

#include "tests/test.h"

#include <stdio.h>

static void formats_into_what_is_there_and_beyond(void **state)
{
    (void)state;
    AUTO_TEXT struct text text;
    text_init(&text, 1000);
    char want[600] = "";
    for (int i = 0; i < 100; i++) {
        assert_true(text_fmt(&text, "%d-", i));
        snprintf(want + strlen(want), sizeof want - strlen(want), "%d-", i);
        assert_string_equal(text_cstr(&text), want);
        assert_int_equal(text.len, strlen(want));
    }
}

static void takes_back_what_does_not_fit(void **state)
{
    (void)state;
    AUTO_TEXT struct text text;
    text_init(&text, 10);
    assert_true(text_fmt(&text, "%s", "12345678"));
    assert_false(text_fmt(&text, "%s", "abc"));
    assert_true(text.overflow);
    assert_string_equal(text_cstr(&text), "12345678");
    assert_true(text_fmt(&text, "%s", "90"));
    assert_string_equal(text_cstr(&text), "1234567890");
    assert_false(text_fmt(&text, "%c", 'x'));
    assert_string_equal(text_cstr(&text), "1234567890");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(formats_into_what_is_there_and_beyond),
            cmocka_unit_test(takes_back_what_does_not_fit)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
