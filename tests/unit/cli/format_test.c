#include "tests/test.h"

#include "cli/format.h"
#include "common/config/policy.h"

static void ages_are_short(void **state)
{
    (void)state;
    const struct {
        int64_t us;
        const char *want;
    } rows[] = {{0, "0 us"}, {850, "850 us"}, {9000, "9 ms"}, {999999, "1000 ms"},
            {3200000, "3.2 s"}, {240LL * 1000000, "4.0 min"}, {9000LL * 1000000, "2.5 h"},
            {3LL * 86400 * 1000000, "3.0 d"}, {-5, "-5 us"}};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char out[FORMAT_MAX];
        assert_row(strcmp(format_age(rows[i].us, out), rows[i].want) == 0, rows[i].want);
    }
}

static void ranges_name_their_unit_once(void **state)
{
    (void)state;
    const struct {
        int64_t least, most;
        const char *want;
    } rows[] = {{9000, 14000, "9..14 ms"}, {9000, 9100, "9 ms"}, {9000, 3200000, "9 ms .. 3.2 s"},
            {0, 0, "0 us"}};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char out[2 * FORMAT_MAX];
        assert_row(strcmp(format_age_range(rows[i].least, rows[i].most, out), rows[i].want) == 0,
                rows[i].want);
    }
}

static void addresses_are_masked(void **state)
{
    (void)state;
    const struct {
        const char *address, *want;
    } rows[] = {{"customer@example.net", "c***@e***.net"}, {"a@b.co.uk", "a***@b***.uk"},
            {"x@localhost", "x***@l***"}, {"\xc3\xa4rger@example.net", "\xc3\xa4***@e***.net"},
            {"\"a@b\"@example.net", "\"***@***.net"},
            {"Ann Example <ann@example.net>", "A***@***.net"},
            {"ann@example.net, Bob B. Secret", "a***@***.net"},
            {"ann@example.net (Ann.Secret)", "a***@***.net"}, {"ann@[192.0.2.1]", "a***@***"},
            {"ann@example.net\r\nBcc.secret", "a***@***.net"}, {"+4915100000000", "+49***00"},
            {"+491", "***"}, {"@example.net", "***"}, {"customer@", "***"}, {"", "***"}};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO_FREE char *got = format_masked(slice_of(rows[i].address));
        assert_row(strcmp(got, rows[i].want) == 0, rows[i].address);
    }
}

static void who_a_delivery_goes_to_is_never_empty(void **state)
{
    (void)state;
    const struct {
        int channel;
        const char *address, *want;
    } rows[] = {{CHANNEL_PUSH, "", "nobody"}, {CHANNEL_PUSH, "d-1", "d-1"},
            {CHANNEL_EMAIL, "", "nobody"}, {CHANNEL_EMAIL, "a@example.net", "a***@e***.net"}};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO_FREE char *got = format_recipient(rows[i].channel, slice_of(rows[i].address));
        assert_string_equal(got, rows[i].want);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(ages_are_short),
            cmocka_unit_test(ranges_name_their_unit_once),
            cmocka_unit_test(addresses_are_masked),
            cmocka_unit_test(who_a_delivery_goes_to_is_never_empty),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
