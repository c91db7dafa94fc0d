#include "dispatcher/lease.h"

#include "common/clock.h"
#include "tests/test.h"

static const struct key one = {{1}}, two = {{2}};

static void a_batch_goes_with_its_last_member(void **state)
{
    (void)state;
    struct leases leases;
    leases_init(&leases, 9000);
    leases_add(&leases, one, 2, 100);
    leases_add(&leases, two, 1, 200);
    assert_false(leases_member_done(&leases, leases_find(&leases, one)));
    assert_true(leases_member_done(&leases, leases_find(&leases, one)));
    assert_null(leases_find(&leases, one));
    assert_non_null(leases_find(&leases, two));
    leases_fini(&leases);
}

static void the_earliest_grant_asks_for_renewal_after_a_third(void **state)
{
    (void)state;
    struct leases leases;
    leases_init(&leases, 9000);
    assert_int_equal(leases_renew_at(&leases), INT64_MAX);
    leases_add(&leases, one, 2, 100);
    struct batch *batch = leases_add(&leases, two, 1, 50);
    assert_int_equal(leases_renew_at(&leases), 3050);
    batch->lost = true;
    assert_int_equal(leases_renew_at(&leases), 3100);
    leases_fini(&leases);
}

static void a_lost_lease_has_nothing_left(void **state)
{
    (void)state;
    struct leases leases;
    leases_init(&leases, 9000);
    struct batch *batch = leases_add(&leases, one, 1, 100);
    assert_int_equal(leases_left_ms(&leases, batch, 1100), 8000);
    batch->lost = true;
    assert_int_equal(leases_left_ms(&leases, batch, 1100), 0);
    leases_fini(&leases);
}

static void a_try_needs_its_timeout_or_a_third_of_a_shorter_lease(void **state)
{
    (void)state;
    assert_int_equal(lease_needed_ms(120000, 30000), 30000);
    assert_int_equal(lease_needed_ms(120000, 700000), 40000);
    assert_int_equal(lease_needed_ms(2000, 700000), 666);
}

// An answer that lay about while the process stood still makes the clock neither late nor early.
static void a_stale_reading_moves_no_clock(void **state)
{
    (void)state;
    const int64_t second = 1000000, start = 1700000000 * second;
    int64_t mono = clock_mono_us();
    struct leases leases;
    leases_init(&leases, 9000);
    leases_clock_seen(&leases, start, mono);
    assert_in_range(leases_now_us(&leases) - start, 0, second);
    leases_clock_seen(&leases, start - 4 * second, mono - 5 * second);
    assert_in_range(leases_now_us(&leases) - start, 0, second);
    leases_clock_seen(&leases, start - 60 * second, mono); // set back
    assert_in_range(leases_now_us(&leases) - (start - 60 * second), 0, second);
    leases_clock_seen(&leases, start + 60 * second, mono);
    assert_in_range(leases_now_us(&leases) - (start + 60 * second), 0, second);
    leases_fini(&leases);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(a_batch_goes_with_its_last_member),
            cmocka_unit_test(the_earliest_grant_asks_for_renewal_after_a_third),
            cmocka_unit_test(a_lost_lease_has_nothing_left),
            cmocka_unit_test(a_stale_reading_moves_no_clock),
            cmocka_unit_test(a_try_needs_its_timeout_or_a_third_of_a_shorter_lease),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
