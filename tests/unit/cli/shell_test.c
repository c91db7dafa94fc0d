#include "cli/shell.h"

#include "tests/test.h"

static void quotes_only_what_a_shell_would_read_otherwise(void **state)
{
    (void)state;
    static const struct {
        const char *name, *input, *want;
    } cases[] = {
            {"plain id", "evt_1-2.3/4:5@6", "evt_1-2.3/4:5@6"},
            {"nothing", "", "''"},
            {"blank", "a b", "'a b'"},
            {"variable", "$HOME", "'$HOME'"},
            {"quote", "it's", "'it'\\''s'"},
            {"flag", "-x", "'-x'"},
            {"UTF-8", "ü", "'ü'"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO_TEXT struct text out = {0};
        text_init(&out, 256);
        shell_word(&out, slice_of(cases[i].input));
        assert_string_equal(text_cstr(&out), cases[i].want);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(quotes_only_what_a_shell_would_read_otherwise),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
