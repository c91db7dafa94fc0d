#include "dispatcher/lease.h"
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

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(a_batch_goes_with_its_last_member),
            cmocka_unit_test(the_earliest_grant_asks_for_renewal_after_a_third),
            cmocka_unit_test(a_lost_lease_has_nothing_left),
            cmocka_unit_test(a_try_needs_its_timeout_or_a_third_of_a_shorter_lease),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
