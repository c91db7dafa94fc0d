#include "cli/inbox/advice.h"
#include "receiver/verify/verify.h"
#include "tests/test.h"

static void has_words_for_every_reason_of_a_refusal(void **state)
{
    (void)state;
    const struct advice *unknown = advice_of(SLICE("no such reason"));
    assert_non_null(unknown);
    for (int i = VERIFY_OK + 1; i < VERIFY_REASON_COUNT; i++) {
        const char *name = verify_reason_name((enum verify_reason)i);
        const struct advice *advice = advice_of(slice_of(name));
        if (advice == unknown || !advice->means[0] || !advice->next[0])
            fail_msg("cli/inbox/advice.c has no words for %s", name);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(has_words_for_every_reason_of_a_refusal)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
