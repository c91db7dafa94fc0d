#include "common/clock.h"
#include "tests/test.h"

static void writes_rfc3339_in_utc_with_milliseconds(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        int64_t us;
        const char *want;
    } rows[] = {
            {"epoch", 0, "1970-01-01T00:00:00.000Z"},
            {"milliseconds are cut, not rounded", 1795953600001999, "2026-11-29T12:00:00.001Z"},
            {"leap day", 1709164800000000, "2024-02-29T00:00:00.000Z"},
            {"before the epoch is the bound", -1, "1970-01-01T00:00:00.000Z"},
            {"after the year 9999 is the bound", INT64_MAX, "9999-12-31T23:59:59.775Z"},
    };
    char out[32];
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        assert_row(strcmp(clock_rfc3339(rows[i].us, out), rows[i].want) == 0, rows[i].name);
}

static void writes_rfc5322_in_english_whatever_the_locale(void **state)
{
    (void)state;
    char out[40];
    assert_string_equal(clock_rfc5322(1795953600, out), "Sun, 29 Nov 2026 12:00:00 +0000");
    assert_string_equal(clock_rfc5322(0, out), "Thu, 01 Jan 1970 00:00:00 +0000");
}

static void runs_forward(void **state)
{
    (void)state;
    int64_t first = clock_mono_us();
    assert_true(clock_mono_us() >= first);
    assert_in_range(clock_mono_ms(), first / 1000, first / 1000 + 10000);
    assert_true(clock_now_us() / 1000000 - clock_now_s() <= 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(writes_rfc3339_in_utc_with_milliseconds),
            cmocka_unit_test(writes_rfc5322_in_english_whatever_the_locale),
            cmocka_unit_test(runs_forward),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
