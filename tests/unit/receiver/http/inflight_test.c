#include "receiver/http/inflight.h"
#include "tests/test.h"

static struct key key_of(const char *id)
{
    return key_event(SLICE("shop"), (struct slice){NULL, 0}, slice_of(id));
}

static void tells_the_first_from_its_copies(void **state)
{
    (void)state;
    struct inflight *inflight = inflight_new(10);
    assert_int_equal(inflight_enter(inflight, key_of("a")), INFLIGHT_FIRST);
    assert_int_equal(inflight_enter(inflight, key_of("b")), INFLIGHT_FIRST);
    assert_false(inflight_others(inflight, key_of("a")));
    assert_int_equal(inflight_enter(inflight, key_of("a")), INFLIGHT_COPY);
    assert_true(inflight_others(inflight, key_of("a")));
    inflight_leave(inflight, key_of("a"));
    assert_false(inflight_others(inflight, key_of("a")));
    inflight_leave(inflight, key_of("a"));
    assert_int_equal(inflight_enter(inflight, key_of("a")), INFLIGHT_FIRST);
    inflight_free(inflight);
}

static void is_bounded(void **state)
{
    (void)state;
    struct inflight *inflight = inflight_new(2);
    assert_int_equal(inflight_enter(inflight, key_of("a")), INFLIGHT_FIRST);
    assert_int_equal(inflight_enter(inflight, key_of("b")), INFLIGHT_FIRST);
    assert_int_equal(inflight_enter(inflight, key_of("c")), INFLIGHT_UNTRACKED);
    assert_int_equal(inflight_enter(inflight, key_of("a")), INFLIGHT_COPY);
    inflight_leave(inflight, key_of("b"));
    assert_int_equal(inflight_enter(inflight, key_of("c")), INFLIGHT_FIRST);
    inflight_free(inflight);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(tells_the_first_from_its_copies),
            cmocka_unit_test(is_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
