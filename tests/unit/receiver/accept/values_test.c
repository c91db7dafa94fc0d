#include "receiver/accept/values.h"

#include "tests/test.h"

static const struct {
    const char *name, *source, *scope, *id, *want;
} events[] = {
        {"all parts", "stripe", "acct_1:true", "evt_1", "stripe/acct_1:true/evt_1"},
        {"no scope", "shop", "", "k", "shop//k"},
        {"the scope can't end early", "s", "a/b%", "c", "s/a%2Fb%25/c"},
        {"the id stands as it is", "s", "a", "b%/c", "s/a/b%/c"},
};

static void an_event_has_a_name_of_its_own_among_sources_and_scopes(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(events); i++) {
        AUTO_FREE char *got = values_event_name(events[i].source, events[i].scope, events[i].id);
        assert_string_equal(got, events[i].want);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(an_event_has_a_name_of_its_own_among_sources_and_scopes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
