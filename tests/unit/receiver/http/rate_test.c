#include "receiver/http/rate.h"
#include "tests/test.h"

#include <stdio.h>

static char shop[] = "shop", other[] = "other";

static int granted(struct rates *rates, const struct source *source, int64_t now_us, int tries)
{
    int n = 0;
    for (int i = 0; i < tries; i++)
        n += rates_take(rates, source, now_us);
    return n;
}

static void grants_what_a_second_brings_and_refills_with_time(void **state)
{
    (void)state;
    struct rates *rates = rates_new();
    struct source source = {.name = shop, .rate = 5};
    assert_int_equal(granted(rates, &source, 1000000, 20), 5);
    assert_int_equal(granted(rates, &source, 1199999, 20), 0);
    assert_int_equal(granted(rates, &source, 1200000, 20), 1);
    assert_int_equal(granted(rates, &source, 1600000, 20), 2);
    // However long nothing came, a second's worth is all there is.
    assert_int_equal(granted(rates, &source, 3600000000, 20), 5);
    // A clock that a thread read before another one's takes nothing back.
    assert_int_equal(granted(rates, &source, 1000000, 20), 0);
    rates_free(rates);
}

static void grants_one_to_a_source_that_sends_less_than_one_a_second(void **state)
{
    (void)state;
    struct rates *rates = rates_new();
    struct source source = {.name = shop, .rate = 0.5};
    assert_int_equal(granted(rates, &source, 0, 5), 1);
    assert_int_equal(granted(rates, &source, 1900000, 5), 0);
    assert_int_equal(granted(rates, &source, 2000000, 5), 1);
    rates_free(rates);
}

static void keeps_sources_apart_and_lets_those_without_a_rate_through(void **state)
{
    (void)state;
    struct rates *rates = rates_new();
    struct source source = {.name = shop, .rate = 1}, second = {.name = other, .rate = 1},
                  free_one = {.name = shop};
    assert_int_equal(granted(rates, &source, 0, 3), 1);
    assert_int_equal(granted(rates, &second, 0, 3), 1);
    assert_int_equal(granted(rates, &free_one, 0, 100), 100);
    rates_free(rates);
}

static void follows_a_policy_that_changes_the_rate(void **state)
{
    (void)state;
    struct rates *rates = rates_new();
    struct source fast = {.name = shop, .rate = 100}, slow = {.name = shop, .rate = 2};
    assert_int_equal(granted(rates, &fast, 0, 10), 10);
    assert_int_equal(granted(rates, &slow, 0, 10), 2);
    rates_free(rates);
}

static int clicks(struct rates *rates, const char *token, int64_t now_us, int tries)
{
    int n = 0;
    for (int i = 0; i < tries; i++)
        n += rates_take_link(rates, slice_of(token), now_us);
    return n;
}

static void one_link_takes_nothing_from_the_others(void **state)
{
    (void)state;
    struct rates *rates = rates_new();
    assert_int_equal(clicks(rates, "ann", 1, 1000), RATE_LINK_BURST);
    assert_int_equal(clicks(rates, "bob", 1, 1), 1);
    assert_int_equal(clicks(rates, "ann", 2000001, 1000), 2 * RATE_LINK_A_SECOND);
    assert_int_equal(clicks(rates, "ann", 3600000001, 1000), RATE_LINK_BURST);
    rates_free(rates);
}

static void all_links_together_have_a_rate(void **state)
{
    (void)state;
    struct rates *rates = rates_new();
    int n = 0;
    for (int i = 0; i < 5000; i++) {
        char token[32];
        snprintf(token, sizeof token, "link %d", i);
        n += clicks(rates, token, 1, 1);
    }
    assert_int_equal(n, RATE_LINKS_A_SECOND);
    rates_free(rates);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(grants_what_a_second_brings_and_refills_with_time),
            cmocka_unit_test(grants_one_to_a_source_that_sends_less_than_one_a_second),
            cmocka_unit_test(keeps_sources_apart_and_lets_those_without_a_rate_through),
            cmocka_unit_test(follows_a_policy_that_changes_the_rate),
            cmocka_unit_test(one_link_takes_nothing_from_the_others),
            cmocka_unit_test(all_links_together_have_a_rate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
