#include "dispatcher/gauges.h"
#include "tests/test.h"

static void what_takes_long_to_count_is_counted_rarely(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        int64_t took_ms, rest_ms;
    } rows[] = {
            {"nothing waits", 0, 10000},
            {"little waits", 100, 10000},
            {"a million: a hundredth of the time", 250, 25000},
            {"at most five minutes", 4000, 300000},
            {"whatever the clock did", INT64_MAX, 300000},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        assert_row(gauges_rest_ms(rows[i].took_ms) == rows[i].rest_ms, rows[i].name);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(what_takes_long_to_count_is_counted_rarely),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
