// A breaker opens by the provider's own errors alone, and closes by one answer.
#include "dispatcher/route/breaker.h"
#include "tests/test.h"

#define MOST UINT32_MAX

static bool ends(struct breaker *b, enum breaker_sign sign, int64_t now)
{
    return breaker_ended(
            b, &(struct breaker_end){.sign = sign, .began_ms = now, .random = MOST}, now);
}

static bool trial_ends(struct breaker *b, enum breaker_sign sign, int64_t now)
{
    return breaker_ended(b,
            &(struct breaker_end){.sign = sign, .trial = true, .began_ms = now, .random = MOST},
            now);
}

static struct breaker opened(int64_t now)
{
    struct breaker b = {0};
    for (int i = 0; i < BREAKER_STREAK; i++)
        ends(&b, SIGN_FAILING, now);
    assert_int_equal(b.state, BREAKER_OPEN);
    return b;
}

static void what_a_result_says_of_its_provider(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        struct attempt_result result;
        enum breaker_sign want;
    } rows[] = {
            {"accepted", {.outcome = ATTEMPT_ACCEPTED, .code = 250}, SIGN_WELL},
            {"a refused message", {.outcome = ATTEMPT_REFUSED, .code = 554}, SIGN_WELL},
            {"a refused address", {.outcome = ATTEMPT_REFUSED, .level = LEVEL_ADDRESS, .code = 550},
                    SIGN_WELL},
            {"a greylisted message", {.outcome = ATTEMPT_RETRY, .code = 451}, SIGN_WELL},
            {"a full mailbox", {.outcome = ATTEMPT_RETRY, .level = LEVEL_ADDRESS, .code = 452},
                    SIGN_WELL},
            {"a message we could not build", {.outcome = ATTEMPT_REFUSED}, SIGN_NONE},
            {"sign-in refused", {.outcome = ATTEMPT_REFUSED, .level = LEVEL_PROVIDER, .code = 401},
                    SIGN_FAILING},
            {"none for the likes of this recipient",
                    {.outcome = ATTEMPT_RETRY, .level = LEVEL_PROVIDER, .code = 400, .apart = true},
                    SIGN_WELL},
            {"no connection", {.outcome = ATTEMPT_RETRY, .level = LEVEL_PROVIDER}, SIGN_FAILING},
            {"unknown", {.outcome = ATTEMPT_UNKNOWN, .level = LEVEL_PROVIDER, .code = 500},
                    SIGN_NONE},
            {"given back", {.outcome = ATTEMPT_GIVEN_BACK, .level = LEVEL_PROVIDER}, SIGN_NONE},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        assert_row(breaker_sign(&rows[i].result) == rows[i].want, rows[i].name);
}

static void some_failures_in_a_row_open_it(void **state)
{
    (void)state;
    struct breaker b = {0};
    for (int round = 0; round < 5; round++) {
        assert_false(ends(&b, SIGN_FAILING, 10));
        assert_false(ends(&b, SIGN_FAILING, 10));
        assert_false(ends(&b, SIGN_NONE, 10)); // unknown: neither way
        assert_int_equal(breaker_room(&b, 10, 7), 7);
        assert_false(ends(&b, SIGN_WELL, 10));
    }
    assert_false(ends(&b, SIGN_FAILING, 10));
    assert_false(ends(&b, SIGN_FAILING, 10));
    assert_true(ends(&b, SIGN_FAILING, 10));
    assert_int_equal(breaker_room(&b, 10, 7), 0);
    assert_int_equal(breaker_wait_ms(&b, 10), BREAKER_BASE_MS);
}

static void messages_and_addresses_never_open_it(void **state)
{
    (void)state;
    struct breaker b = {0};
    for (int i = 0; i < 100; i++)
        assert_false(ends(&b, SIGN_WELL, i));
    assert_int_equal(b.state, BREAKER_CLOSED);
}

static void one_that_names_a_time_opens_it_for_that_time(void **state)
{
    (void)state;
    struct breaker b = {0};
    struct breaker_end end = {.sign = SIGN_FAILING, .began_ms = 5, .retry_after_ms = 30000};
    assert_true(breaker_ended(&b, &end, 10));
    assert_int_equal(breaker_wait_ms(&b, 10), 30000);
    // What was in flight may ask for longer, never for less.
    end.retry_after_ms = 5000;
    assert_false(breaker_ended(&b, &end, 20));
    assert_int_equal(breaker_wait_ms(&b, 10), 30000);
    end.retry_after_ms = 60000;
    assert_false(breaker_ended(&b, &end, 20));
    assert_int_equal(breaker_wait_ms(&b, 20), 60000);
    // Spread a little above what was asked for.
    b = (struct breaker){0};
    end.random = MOST;
    assert_true(breaker_ended(&b, &end, 20));
    assert_int_equal(breaker_wait_ms(&b, 20), 66000);
}

static void one_trial_finds_out(void **state)
{
    (void)state;
    struct breaker b = opened(0);
    assert_false(breaker_start(&b, 999)); // too early: nobody asked it
    assert_int_equal(breaker_room(&b, 1000, 7), 1);
    assert_int_equal(breaker_room(&b, 1000, 0), 0);
    assert_true(breaker_start(&b, 1000));
    assert_int_equal(breaker_room(&b, 1000, 7), 0);
    assert_false(breaker_start(&b, 1000));
    assert_int_equal(breaker_wait_ms(&b, 1000), BREAKER_BASE_MS);
    assert_false(ends(&b, SIGN_WELL, 1100)); // of before: not the trial
    assert_int_equal(b.state, BREAKER_TRIAL);
    assert_true(trial_ends(&b, SIGN_WELL, 1200));
    assert_int_equal(breaker_room(&b, 1200, 7), 7);
    // What began before it closed says nothing new.
    for (int i = 0; i < 10; i++)
        assert_false(breaker_ended(
                &b, &(struct breaker_end){.sign = SIGN_FAILING, .began_ms = 1100}, 1300));
    assert_int_equal(b.state, BREAKER_CLOSED);
}

static void a_trial_that_fails_waits_longer_each_time(void **state)
{
    (void)state;
    struct breaker b = opened(0);
    int64_t now = 0, want = BREAKER_BASE_MS;
    for (int i = 0; i < 20; i++) {
        assert_int_equal(breaker_wait_ms(&b, now), want);
        now += want;
        assert_true(breaker_start(&b, now));
        assert_false(trial_ends(&b, i % 2 ? SIGN_FAILING : SIGN_NONE, now));
        want = want * 2 < BREAKER_MAX_MS ? want * 2 : BREAKER_MAX_MS;
    }
    assert_int_equal(want, BREAKER_MAX_MS);
}

static void a_trial_that_never_started_leaves_it_to_the_next(void **state)
{
    (void)state;
    struct breaker b = opened(0);
    assert_true(breaker_start(&b, 1000));
    assert_false(breaker_ended(&b, &(struct breaker_end){.trial = true, .back = true}, 1001));
    assert_int_equal(breaker_room(&b, 1001, 7), 1);
    assert_true(breaker_start(&b, 1001));
}

static void waits_begin_small_again_after_a_steady_time(void **state)
{
    (void)state;
    static const struct {
        int64_t closed_ms, want;
    } rows[] = {{BREAKER_STEADY_MS - 1, 2 * BREAKER_BASE_MS}, {BREAKER_STEADY_MS, BREAKER_BASE_MS}};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct breaker b = opened(0);
        assert_true(breaker_start(&b, 1000));
        assert_true(trial_ends(&b, SIGN_WELL, 1000));
        int64_t now = 1000 + rows[i].closed_ms;
        for (int n = 0; n < BREAKER_STREAK; n++)
            ends(&b, SIGN_FAILING, now);
        assert_int_equal(breaker_wait_ms(&b, now), rows[i].want);
    }
}

static void jitter_is_full_and_no_wait_is_none(void **state)
{
    (void)state;
    static const struct {
        uint32_t random;
        int64_t want;
    } rows[] = {
            {0, BREAKER_LEAST_MS}, {MOST / 2, BREAKER_BASE_MS / 2 - 1}, {MOST, BREAKER_BASE_MS}};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct breaker b = {.streak = BREAKER_STREAK - 1};
        struct breaker_end end = {.sign = SIGN_FAILING, .random = rows[i].random};
        assert_true(breaker_ended(&b, &end, 0));
        assert_in_range(breaker_wait_ms(&b, 0), rows[i].want, rows[i].want + 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(what_a_result_says_of_its_provider),
            cmocka_unit_test(some_failures_in_a_row_open_it),
            cmocka_unit_test(messages_and_addresses_never_open_it),
            cmocka_unit_test(one_that_names_a_time_opens_it_for_that_time),
            cmocka_unit_test(one_trial_finds_out),
            cmocka_unit_test(a_trial_that_fails_waits_longer_each_time),
            cmocka_unit_test(a_trial_that_never_started_leaves_it_to_the_next),
            cmocka_unit_test(waits_begin_small_again_after_a_steady_time),
            cmocka_unit_test(jitter_is_full_and_no_wait_is_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
