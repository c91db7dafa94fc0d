// What a provider's answer means for a delivery that it was asked about.
#include "dispatcher/lookup/decide.h"

#include "tests/test.h"

#define S INT64_C(1000000)
#define SETTLES (1000 * S) // the delay is 100 s: it began at 900

static struct look_decision decide_at(
        enum attempt_outcome outcome, enum delivery_state state, int64_t now_s, bool askable)
{
    const struct looked looked = {.outcome = outcome,
            .askable = askable,
            .state = state,
            .asked_us = now_s * S,
            .settles_us = SETTLES,
            .settle_ms = 100 * 1000};
    return look_decide(&looked, now_s * S);
}

static void answers_lead_where_the_table_says(void **state)
{
    (void)state;
    enum { DUE = DELIVERY_DUE, DOUBT = DELIVERY_UNKNOWN, TAKEN = DELIVERY_ACCEPTED };
    static const struct {
        const char *name;
        enum attempt_outcome outcome;
        int from;
        int64_t now_s;
        bool askable;
        int to;
        bool again;
    } cases[] = {
            {"found at once", ATTEMPT_FOUND, DUE, 901, true, TAKEN, false},
            {"found for good", ATTEMPT_FOUND, DOUBT, 5000, true, TAKEN, false},
            {"not found yet", ATTEMPT_NOT_FOUND, DUE, 999, true, DUE, true},
            {"not found", ATTEMPT_NOT_FOUND, DUE, 1000, true, DUE, false},
            {"unknown, not found yet", ATTEMPT_NOT_FOUND, DOUBT, 999, true, DOUBT, true},
            {"unknown stays unknown", ATTEMPT_NOT_FOUND, DOUBT, 1000, true, DOUBT, false},
            {"no answer", ATTEMPT_UNANSWERED, DUE, 2000, true, DUE, true},
            {"no answer for too long", ATTEMPT_UNANSWERED, DUE, 4600, true, DUE, false},
            {"no answer, unknown", ATTEMPT_UNANSWERED, DOUBT, 4600, true, DOUBT, false},
            {"nobody to ask", ATTEMPT_UNANSWERED, DUE, 901, false, DUE, false},
            {"nobody to ask, unknown", ATTEMPT_UNANSWERED, DOUBT, 901, false, DOUBT, false},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct look_decision got = decide_at(cases[i].outcome, (enum delivery_state)cases[i].from,
                cases[i].now_s, cases[i].askable);
        if ((int)got.state != cases[i].to || got.again != cases[i].again)
            fail_msg("%s: state %d, again %d", cases[i].name, got.state, got.again);
        assert_int_equal(got.reason != NULL, cases[i].to == DOUBT && !got.again);
    }
}

static void waits_double_and_the_last_one_ends_just_after_the_delay(void **state)
{
    (void)state;
    static const struct {
        int64_t now_s, wait_ms;
    } cases[] = {{900, 10000}, {910, 10000}, {920, 20000}, {940, 40000}, {980, 20100},
            {1100, 200000}, {2000, 300000}};
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        enum attempt_outcome outcome =
                cases[i].now_s < 1000 ? ATTEMPT_NOT_FOUND : ATTEMPT_UNANSWERED;
        struct look_decision got = decide_at(outcome, DELIVERY_DUE, cases[i].now_s, true);
        assert_int_equal(got.wait_ms, cases[i].wait_ms);
    }
}

static void what_was_asked_too_early_says_nothing_when_it_is_answered_late(void **state)
{
    (void)state;
    const struct looked looked = {.outcome = ATTEMPT_NOT_FOUND,
            .askable = true,
            .state = DELIVERY_DUE,
            .asked_us = SETTLES - 1,
            .settles_us = SETTLES,
            .settle_ms = 100 * 1000};
    struct look_decision got = look_decide(&looked, 2000 * S);
    assert_true(got.again);
    assert_int_equal(got.wait_ms, LOOK_LEAST_MS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(answers_lead_where_the_table_says),
            cmocka_unit_test(waits_double_and_the_last_one_ends_just_after_the_delay),
            cmocka_unit_test(what_was_asked_too_early_says_nothing_when_it_is_answered_late),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
