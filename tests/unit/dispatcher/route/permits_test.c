// Permits are held a batch at a time; transfers are counted by provider and by SMTP host.
#include "dispatcher/route/permits.h"
#include "dispatcher/route/row.h"
#include "tests/test.h"

static void a_batch_is_a_tenth_of_a_second(void **state)
{
    (void)state;
    static const struct {
        double rate;
        int want;
    } rows[] = {{0.01, 1}, {1, 1}, {9, 1}, {20, 2}, {29, 2}, {500, 50}};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        assert_int_equal(permits_batch(rows[i].rate), rows[i].want);
}

static void without_a_rate_there_is_no_limit(void **state)
{
    (void)state;
    struct permits p = {0};
    assert_int_equal(permits_room(&p, 42), 42);
    assert_false(permits_wanted(&p, 1000));
    permits_use(&p);
    assert_int_equal(p.held, 0);
}

static void what_is_held_is_used_before_more_is_asked_for(void **state)
{
    (void)state;
    struct permits p = {0};
    permits_rate(&p, 20);
    assert_int_equal(permits_room(&p, 10), 0);
    assert_true(permits_wanted(&p, 1000));
    permits_granted(&p, 2, 50, 1000);
    assert_int_equal(permits_room(&p, 10), 2);
    assert_int_equal(permits_room(&p, 1), 1);
    permits_use(&p);
    assert_false(permits_wanted(&p, 5000));
    permits_use(&p);
    assert_false(permits_wanted(&p, 1049));
    assert_true(permits_wanted(&p, 1050));
}

static void a_lower_rate_keeps_no_more_than_its_batch(void **state)
{
    (void)state;
    struct permits p = {0};
    permits_rate(&p, 100);
    permits_granted(&p, 10, 0, 0);
    permits_rate(&p, 20);
    assert_int_equal(p.held, 2);
    permits_rate(&p, 0);
    assert_int_equal(permits_room(&p, 99), 99);
}

static void a_host_is_told_by_its_name_and_port(void **state)
{
    (void)state;
    static const struct {
        const char *url, *want;
    } rows[] = {{"smtp://Mail.Example:25", "mail.example:25"}, {"smtps://a.example/x", "a.example"},
            {"smtp://[::1]:2525", "[::1]:2525"}, {"plain.example:25", "plain.example:25"}};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char host[ROUTE_HOST_MAX];
        row_host(rows[i].url, host);
        assert_string_equal(host, rows[i].want);
    }
}

static void transfers_are_counted_by_provider_and_by_host(void **state)
{
    (void)state;
    struct provider any = {0};
    struct row rows[] = {
            {.provider = &any, .host = "one:25", .limit = 10, .flying = 4},
            {.provider = &any, .host = "one:25", .limit = 20, .flying = 13},
            {.provider = &any, .host = "two:25", .limit = 10, .flying = 12},
            {.provider = &any, .limit = 5, .flying = 1}, // over HTTP: by itself
            {.provider = &any, .limit = 5, .flying = 5},
    };
    static const int want[] = {3, 3, 0, 4, 0};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        assert_int_equal(row_transfers(rows, ARRAY_LEN(rows), &rows[i]), want[i]);
    rows[3].breaker.state = BREAKER_OPEN;
    assert_int_equal(row_room(rows, ARRAY_LEN(rows), &rows[3], 0), 1);
    rows[3].permits.rate = 1;
    assert_int_equal(row_room(rows, ARRAY_LEN(rows), &rows[3], 0), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(a_batch_is_a_tenth_of_a_second),
            cmocka_unit_test(without_a_rate_there_is_no_limit),
            cmocka_unit_test(what_is_held_is_used_before_more_is_asked_for),
            cmocka_unit_test(a_lower_rate_keeps_no_more_than_its_batch),
            cmocka_unit_test(a_host_is_told_by_its_name_and_port),
            cmocka_unit_test(transfers_are_counted_by_provider_and_by_host),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
