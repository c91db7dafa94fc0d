// Times as they are named on the command line and kept with a request.
#include "tests/test.h"

#include "cli/verify/saved.h"

static void a_time_is_unix_seconds_or_rfc_3339_and_none_that_has_no_date(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool ok;
        int64_t want;
    } rows[] = {{"1700000000", true, 1700000000}, {"2023-11-14T22:13:20Z", true, 1700000000},
            {"2023-11-14T22:13:20.123+00:00", true, 1700000000},
            {"253402300799", true, 253402300799}, {"253402300800", false, 0},
            {"9223372036854775807", false, 0}, {"99999999999999999999", false, 0}, {"0", false, 0},
            {"-5", false, 0}, {"", false, 0}, {"noon", false, 0},
            {"2023-11-14T22:13:20+01:00", false, 0}};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        int64_t got = 0;
        assert_row(saved_time(slice_of(rows[i].text), &got) == rows[i].ok, rows[i].text);
        assert_row(got == rows[i].want, rows[i].text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(a_time_is_unix_seconds_or_rfc_3339_and_none_that_has_no_date)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
