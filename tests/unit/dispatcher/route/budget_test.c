// Retries are one in ten of first tries while a provider fails at large, and free otherwise.
#include "dispatcher/route/budget.h"
#include "tests/test.h"

static struct budget failing(void)
{
    struct budget b = {.filled_ms = 1};
    for (int i = 0; i < 100; i++)
        budget_ended(&b, true);
    return b;
}

static void retries_are_free_while_few_tries_fail(void **state)
{
    (void)state;
    struct budget b = {0};
    for (int i = 0; i < 1000; i++) {
        budget_ended(&b, i % 5 == 0); // one in five
        assert_true(budget_retry(&b, 1));
    }
    assert_false(budget_counts(&b));
}

static void some_failures_in_a_row_are_not_at_large(void **state)
{
    (void)state;
    struct budget b = {0};
    for (int i = 0; i < 10; i++)
        budget_ended(&b, true);
    assert_false(budget_counts(&b));
    budget_ended(&b, true);
    assert_true(budget_counts(&b));
}

static void a_tenth_of_first_tries_is_retried(void **state)
{
    (void)state;
    struct budget b = failing();
    int retried = 0;
    for (int i = 0; i < 1000; i++) {
        budget_first(&b);
        retried += budget_retry(&b, 1);
    }
    assert_in_range(retried, 98, 101);
}

static void a_backlog_of_retries_moves_without_first_tries(void **state)
{
    (void)state;
    struct budget b = failing();
    int retried = 0;
    for (int64_t ms = 1; ms <= 20 * 1000; ms += 10)
        retried += budget_retry(&b, ms);
    assert_in_range(retried, 18, 20);
}

static void no_more_than_ten_are_saved_up(void **state)
{
    (void)state;
    struct budget b = failing();
    for (int i = 0; i < 10000; i++)
        budget_first(&b);
    int retried = 0;
    while (retried < 100 && budget_retry(&b, 3600 * 1000))
        retried++;
    assert_int_equal(retried, 10);
}

static void it_ends_once_the_provider_is_well(void **state)
{
    (void)state;
    struct budget b = failing();
    int n = 0;
    while (budget_counts(&b) && n < 100) {
        budget_ended(&b, false);
        n++;
    }
    assert_in_range(n, 5, 15);
    assert_true(budget_retry(&b, 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(retries_are_free_while_few_tries_fail),
            cmocka_unit_test(some_failures_in_a_row_are_not_at_large),
            cmocka_unit_test(a_tenth_of_first_tries_is_retried),
            cmocka_unit_test(a_backlog_of_retries_moves_without_first_tries),
            cmocka_unit_test(no_more_than_ten_are_saved_up),
            cmocka_unit_test(it_ends_once_the_provider_is_well),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
