#include "dispatcher/health.h"
#include "tests/test.h"

#include <stdio.h>

static char provider[] = "smtp";

static void note(struct health *health, struct attempt_result result, int64_t began, int64_t now)
{
    const struct delivery delivery = {
            .channel = CHANNEL_EMAIL, .provider = provider, .result = result, .started_ms = began};
    health_note(health, &delivery, now);
}

static struct attempt_result failed(const char *detail)
{
    struct attempt_result result = {.outcome = ATTEMPT_RETRY, .level = LEVEL_PROVIDER};
    snprintf(result.detail, sizeof result.detail, "%s", detail);
    return result;
}
static const struct attempt_result accepted = {.outcome = ATTEMPT_ACCEPTED, .code = 250};

static void a_provider_fails_from_its_first_failure_to_its_next_answer(void **state)
{
    (void)state;
    struct health *health = health_new();
    assert_false(health_failing(health, CHANNEL_EMAIL, "smtp"));
    note(health, failed("can't connect"), 100, 200);
    assert_true(health_failing(health, CHANNEL_EMAIL, "smtp"));
    note(health, accepted, 300, 400);
    assert_false(health_failing(health, CHANNEL_EMAIL, "smtp"));
    health_free(health);
}

static void what_was_in_flight_before_changes_nothing(void **state)
{
    (void)state;
    struct health *health = health_new();
    note(health, failed("can't connect"), 100, 200);
    note(health, accepted, 150, 300);
    assert_true(health_failing(health, CHANNEL_EMAIL, "smtp"));
    note(health, accepted, 350, 400);
    note(health, failed("connection lost"), 350, 450);
    assert_false(health_failing(health, CHANNEL_EMAIL, "smtp"));
    health_free(health);
}

static void only_what_speaks_of_the_provider_counts(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        struct attempt_result result;
        bool before, want;
    } cases[] = {
            {"a refused address is an answer",
                    {.outcome = ATTEMPT_REFUSED, .level = 1, .code = 550}, true, false},
            {"an address we could not read is none", {.outcome = ATTEMPT_REFUSED, .level = 1}, true,
                    true},
            {"unknown", {.outcome = ATTEMPT_UNKNOWN, .level = LEVEL_PROVIDER}, false, false},
            {"given back", {.outcome = ATTEMPT_GIVEN_BACK, .level = LEVEL_PROVIDER}, false, false},
            {"a sign-in refused", {.outcome = ATTEMPT_RETRY, .level = LEVEL_PROVIDER, .code = 535},
                    false, true},
            {"a greylisted message", {.outcome = ATTEMPT_RETRY, .code = 451}, false, false},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct health *health = health_new();
        if (cases[i].before)
            note(health, failed("x"), 100, 200);
        note(health, cases[i].result, 300, 400);
        if (health_failing(health, CHANNEL_EMAIL, "smtp") != cases[i].want)
            fail_msg("%s", cases[i].name);
        health_free(health);
    }
}

static void the_check_has_the_reason_without_addresses(void **state)
{
    (void)state;
    struct health *health = health_new();
    AUTO_TEXT struct text out;
    text_init(&out, 4096);
    health_checks(health, &out);
    assert_string_equal(text_cstr(&out), "");
    note(health, failed("452 4.3.1 <ann@example.net> no \"room\""), 100, 200);
    health_checks(health, &out);
    assert_string_equal(text_cstr(&out),
            ",{\"name\":\"provider_email_smtp\",\"ok\":false,\"detail\":"
            "\"452 4.3.1 *** no \\\"room\\\"\"}");
    text_reset(&out);
    health_breaker(health, CHANNEL_EMAIL, "smtp", 5000);
    health_breaker(health, CHANNEL_EMAIL, "resend", 0);
    health_checks(health, &out);
    assert_string_equal(text_cstr(&out),
            ",{\"name\":\"provider_email_smtp\",\"ok\":false,\"detail\":"
            "\"gets none for now: 452 4.3.1 *** no \\\"room\\\"\"},"
            "{\"name\":\"provider_email_resend\",\"ok\":true,\"detail\":\"takes messages\"}");
    health_free(health);
}

static void each_provider_is_told_of_by_itself(void **state)
{
    (void)state;
    struct health *health = health_new();
    note(health, failed("can't connect"), 100, 200);
    assert_true(health_failing(health, CHANNEL_EMAIL, "smtp"));
    assert_false(health_failing(health, CHANNEL_EMAIL, "resend"));
    assert_false(health_failing(health, CHANNEL_SMS, "smtp"));
    health_free(health);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(a_provider_fails_from_its_first_failure_to_its_next_answer),
            cmocka_unit_test(what_was_in_flight_before_changes_nothing),
            cmocka_unit_test(only_what_speaks_of_the_provider_counts),
            cmocka_unit_test(each_provider_is_told_of_by_itself),
            cmocka_unit_test(the_check_has_the_reason_without_addresses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
