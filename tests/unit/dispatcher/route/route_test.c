// What is remembered of providers, from the choice of one to the end of the try.
#include "dispatcher/route/route.h"
#include "dispatcher/route/state.h"
#include "tests/test.h"

static char smtp[] = "smtp", spare[] = "spare", resend[] = "resend", relay[] = "smtp://relay:25";

static struct provider providers[] = {
        {.driver_name = smtp, .name = smtp, .driver = DRIVER_SMTP, .url = relay, .concurrency = 4},
        {.driver_name = resend, .name = spare, .driver = DRIVER_HTTP},
};

static int64_t key_window_s(enum channel_kind channel, const char *driver)
{
    (void)channel;
    return strcmp(driver, "resend") == 0 ? 3600 : 0;
}

static bool is_paused; // the first one

static bool paused(void *user, const struct provider *provider)
{
    (void)user;
    return is_paused && provider == &providers[0];
}

struct fixture {
    struct policy policy;
    struct route *route;
};

static struct fixture with(size_t n)
{
    struct fixture f = {0};
    is_paused = false;
    f.policy.channels[CHANNEL_EMAIL] =
            (struct channel){.kind = CHANNEL_EMAIL, .providers = providers, .n_providers = n};
    f.route = route_new(&(struct route_options){.key_window_s = key_window_s, .paused = paused});
    route_policy(f.route, &f.policy);
    return f;
}

static int room_of(const struct fixture *f, int64_t now_ms)
{
    int64_t wait_ms = 0;
    int room = route_room(f->route, CHANNEL_EMAIL, 50, false, now_ms, &wait_ms);
    assert_true(room > 0 || wait_ms > 0);
    return room;
}

static struct delivery mail(void)
{
    return (struct delivery){.channel = CHANNEL_EMAIL};
}

static const char *goes_to(const struct fixture *f, struct delivery *delivery, int64_t now_ms)
{
    int64_t wait_ms = 0;
    return route_choose(f->route, delivery, now_ms, &wait_ms) ? delivery->provider : NULL;
}

static void end_with(const struct fixture *f, struct delivery *delivery,
        struct attempt_result result, int64_t now_ms)
{
    delivery->result = result;
    delivery->started_ms = now_ms;
    route_ended(f->route, delivery, now_ms);
    delivery->tries++;
}

static const struct attempt_result denied = {
        .outcome = ATTEMPT_RETRY, .level = LEVEL_PROVIDER, .code = 421, .retry_after_ms = 60000};
static const struct attempt_result taken = {.outcome = ATTEMPT_ACCEPTED, .code = 250};
static const struct attempt_result back = {.outcome = ATTEMPT_GIVEN_BACK};

static void what_is_in_flight_takes_room_until_it_ended(void **state)
{
    (void)state;
    struct fixture f = with(1);
    struct delivery d[5];
    for (size_t i = 0; i < ARRAY_LEN(d); i++)
        d[i] = mail();
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(room_of(&f, 1), 4 - (int)i);
        assert_string_equal(goes_to(&f, &d[i], 1), "smtp");
    }
    assert_int_equal(room_of(&f, 1), 0);
    assert_null(goes_to(&f, &d[4], 1));
    end_with(&f, &d[0], taken, 2);
    end_with(&f, &d[1], back, 2);
    assert_int_equal(room_of(&f, 2), 2);
    route_ended(f.route, &d[1], 2); // told twice: counted once
    assert_int_equal(room_of(&f, 2), 2);
    for (size_t i = 0; i < ARRAY_LEN(d); i++)
        free(d[i].provider);
    route_free(f.route);
}

static void a_refusal_of_its_own_leads_to_the_next_and_opens(void **state)
{
    (void)state;
    struct fixture f = with(2);
    struct delivery d = mail();
    assert_string_equal(goes_to(&f, &d, 1), "smtp");
    end_with(&f, &d, denied, 2);
    assert_true(d.result.other);
    d.passed_on = true;
    assert_string_equal(goes_to(&f, &d, 3), "spare");
    assert_ptr_equal(route_provider(f.route, &d), &providers[1]);
    end_with(&f, &d, denied, 4);
    assert_false(d.result.other); // nobody is left
    assert_int_equal(room_of(&f, 5), 0);
    assert_int_equal(room_of(&f, 30000), 0);
    free(d.provider);
    route_free(f.route);
}

static void what_it_takes_from_others_leads_to_the_next_alone(void **state)
{
    (void)state;
    static const struct attempt_result not_for_him = {.outcome = ATTEMPT_RETRY,
            .level = LEVEL_PROVIDER,
            .code = 400,
            .retry_after_ms = 60000,
            .apart = true};
    struct fixture f = with(2);
    for (int i = 0; i < 40; i++) {
        struct delivery d = mail();
        assert_string_equal(goes_to(&f, &d, i + 1), "smtp");
        end_with(&f, &d, not_for_him, i + 1);
        assert_true(d.result.other);
        free(d.provider);
    }
    assert_false(budget_counts(&f.route->rows[0].budget));
    route_free(f.route);
}

static void one_finds_out_whether_it_is_well(void **state)
{
    (void)state;
    struct fixture f = with(1);
    struct delivery d = mail(), trial = mail(), other = mail();
    goes_to(&f, &d, 1);
    end_with(&f, &d, denied, 2);
    int64_t after = 2 + 67000;
    assert_int_equal(room_of(&f, after), 1);
    assert_string_equal(goes_to(&f, &trial, after), "smtp");
    assert_true(trial.trial);
    assert_int_equal(room_of(&f, after), 0);
    assert_null(goes_to(&f, &other, after));
    end_with(&f, &trial, taken, after + 1);
    assert_int_equal(room_of(&f, after + 2), 4);
    free(d.provider);
    free(trial.provider);
    route_free(f.route);
}

static void a_mail_that_can_not_be_sent_says_nothing_of_its_provider(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        struct attempt_result result;
        int64_t started_ms;
    } rows[] = {
            {"it was not built", {.outcome = ATTEMPT_REFUSED}, 0},
            {"a file of it is gone", {.outcome = ATTEMPT_REFUSED, .spoilt = true}, 0},
            {"one changed while it was sent", {.outcome = ATTEMPT_REFUSED, .spoilt = true}, 69000},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct fixture f = with(1);
        struct delivery d = mail(), trial = mail();
        goes_to(&f, &d, 1);
        end_with(&f, &d, denied, 2);
        assert_string_equal(goes_to(&f, &trial, 69000), "smtp");
        assert_row(trial.trial, rows[i].name);
        trial.result = rows[i].result;
        trial.started_ms = rows[i].started_ms;
        route_ended(f.route, &trial, 69001);
        assert_row(room_of(&f, 69002) == 1, rows[i].name); // the next is the trial
        free(d.provider);
        free(trial.provider);
        route_free(f.route);
    }
}

static void what_waits_is_looked_at_now_and_then(void **state)
{
    (void)state;
    struct fixture f = with(1);
    struct delivery d = mail();
    struct attempt_result for_a_day = denied;
    for_a_day.retry_after_ms = 86400 * 1000;
    goes_to(&f, &d, 1);
    end_with(&f, &d, for_a_day, 2);
    assert_int_equal(room_of(&f, 10), 0);
    assert_int_equal(room_of(&f, 10 + ROUTE_LOOK_MS - 1), 0);
    assert_int_equal(room_of(&f, 10 + ROUTE_LOOK_MS), 50);
    assert_int_equal(room_of(&f, 10 + ROUTE_LOOK_MS), 0);
    struct delivery other = mail();
    int64_t wait_ms = 0;
    assert_false(route_choose(f.route, &other, 10 + ROUTE_LOOK_MS, &wait_ms));
    assert_int_equal(wait_ms, ROUTE_LATER_MS);
    free(d.provider);
    route_free(f.route);
}

static void another_policy_keeps_what_was_learnt_but_asks_again(void **state)
{
    (void)state;
    struct fixture f = with(2);
    struct delivery flying = mail(), d = mail();
    goes_to(&f, &flying, 1);
    goes_to(&f, &d, 1);
    end_with(&f, &d, denied, 2);
    struct policy next = f.policy;
    next.channels[CHANNEL_EMAIL].n_providers = 1;
    route_policy(f.route, &next);
    assert_int_equal(room_of(&f, 3), 1); // one finds out, though its time is not over
    end_with(&f, &flying, taken, 4);
    assert_int_equal(f.route->rows[0].flying, 0);
    // A provider that left the policy while a try was with it.
    struct delivery late = mail();
    route_policy(f.route, &f.policy);
    late.provider = xstrdup("spare");
    late.passed_on = true;
    free(d.provider);
    d = mail();
    f.route->rows[1].flying = 1;
    route_policy(f.route, &next);
    assert_int_equal(f.route->n, 2);
    assert_null(route_provider(f.route, &late));
    late.routed = true;
    end_with(&f, &late, taken, 5);
    assert_int_equal(f.route->rows[1].flying, 0);
    free(flying.provider);
    free(late.provider);
    route_free(f.route);
}

static void a_paused_provider_is_passed_over(void **state)
{
    (void)state;
    struct fixture f = with(2);
    struct delivery d = mail();
    is_paused = true;
    assert_string_equal(goes_to(&f, &d, 1), "spare");
    end_with(&f, &d, taken, 2);
    free(d.provider);
    route_free(f.route);
    f = with(1);
    is_paused = true;
    assert_int_equal(room_of(&f, 1), 0);
    route_free(f.route);
}

static void what_nobody_takes_is_claimed_and_says_so(void **state)
{
    (void)state;
    struct fixture f = with(0);
    struct delivery d = mail();
    d.provider = xstrdup("gone");
    assert_int_equal(room_of(&f, 1), 50);
    int64_t wait_ms = 0;
    assert_true(route_choose(f.route, &d, 1, &wait_ms));
    assert_null(d.provider);
    assert_false(d.routed);
    assert_null(route_provider(f.route, &d));
    route_free(f.route);
}

static void retries_are_held_when_it_fails_at_large(void **state)
{
    (void)state;
    struct fixture f = with(1);
    static const struct attempt_result cut = {.outcome = ATTEMPT_UNKNOWN, .code = 0};
    int gone = 0;
    struct delivery d = mail();
    for (int i = 0; i < 100; i++) {
        int64_t wait_ms = 0;
        if (!route_choose(f.route, &d, 1, &wait_ms)) {
            assert_in_range(wait_ms, ROUTE_BUDGET_LEAST_MS, ROUTE_BUDGET_MOST_MS);
            continue;
        }
        gone++;
        end_with(&f, &d, cut, 1);
    }
    assert_in_range(gone, 10, 13); // until it was seen to fail at large
    struct delivery first = mail();
    assert_string_equal(goes_to(&f, &first, 1), "smtp"); // a first try is free
    free(d.provider);
    free(first.provider);
    route_free(f.route);
}

static void what_waits_at_a_gate_neither_fills_nor_drains_the_budget(void **state)
{
    (void)state;
    struct fixture f = with(1);
    static const struct attempt_result cut = {.outcome = ATTEMPT_UNKNOWN, .code = 0};
    struct delivery d = mail();
    for (int i = 0; i < 20; i++)
        if (goes_to(&f, &d, 1))
            end_with(&f, &d, cut, 1);
    assert_null(goes_to(&f, &d, 1)); // all is spent
    for (int i = 0; i < 100; i++) {
        struct delivery first = mail();
        assert_string_equal(goes_to(&f, &first, 1), "smtp");
        end_with(&f, &first, back, 1);
        free(first.provider);
    }
    assert_null(goes_to(&f, &d, 1));
    for (int i = 0; i < 100; i++) { // one is there after a second
        assert_string_equal(goes_to(&f, &d, 1001), "smtp");
        end_with(&f, &d, back, 1001);
    }
    assert_string_equal(goes_to(&f, &d, 1001), "smtp");
    end_with(&f, &d, cut, 1001);
    assert_null(goes_to(&f, &d, 1001));
    free(d.provider);
    route_free(f.route);
}

static void what_never_left_gives_its_permits_back(void **state)
{
    (void)state;
    struct fixture f = with(1);
    providers[0].rate = 10;
    f.policy.channels[CHANNEL_EMAIL].rate = 50;
    struct policy policy = f.policy;
    route_policy(f.route, &policy);
    assert_true(route_asks(f.route, CHANNEL_EMAIL, 1));
    permits_granted(f.route->asked[0].permits, 5, 1000, 1);
    permits_granted(f.route->asked[1].permits, 1, 1000, 1);
    struct delivery d = mail();
    for (int i = 0; i < 3; i++) {
        assert_string_equal(goes_to(&f, &d, 2), "smtp");
        assert_int_equal(room_of(&f, 2), 0);
        end_with(&f, &d, back, 2);
        assert_int_equal(room_of(&f, 2), 1);
        assert_int_equal(f.route->channels[CHANNEL_EMAIL].held, 5);
    }
    assert_string_equal(goes_to(&f, &d, 2), "smtp");
    end_with(&f, &d, taken, 3);
    assert_int_equal(room_of(&f, 3), 0);
    free(d.provider);
    providers[0].rate = 0;
    route_free(f.route);
}

static void permits_are_asked_for_by_channel_and_provider(void **state)
{
    (void)state;
    struct fixture f = with(1);
    providers[0].rate = 10;
    f.policy.channels[CHANNEL_EMAIL].rate = 50;
    struct policy again = f.policy;
    route_policy(f.route, &again);
    assert_int_equal(room_of(&f, 1), 0);
    assert_true(route_asks(f.route, CHANNEL_EMAIL, 1));
    assert_int_equal(f.route->n_asked, 2);
    assert_string_equal(f.route->asked[0].scope, "email");
    assert_string_equal(f.route->asked[1].scope, "email/smtp");
    permits_granted(f.route->asked[0].permits, 5, 10, 1);
    permits_granted(f.route->asked[1].permits, 1, 100, 1);
    assert_false(route_asks(f.route, CHANNEL_EMAIL, 1));
    assert_int_equal(room_of(&f, 1), 1);
    struct delivery d = mail();
    assert_string_equal(goes_to(&f, &d, 1), "smtp");
    assert_int_equal(f.route->channels[CHANNEL_EMAIL].held, 4);
    assert_int_equal(room_of(&f, 1), 0);
    assert_false(route_asks(f.route, CHANNEL_EMAIL, 100)); // there are none before
    assert_true(route_asks(f.route, CHANNEL_EMAIL, 101));
    providers[0].rate = 0;
    free(d.provider);
    route_free(f.route);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(what_is_in_flight_takes_room_until_it_ended),
            cmocka_unit_test(a_refusal_of_its_own_leads_to_the_next_and_opens),
            cmocka_unit_test(what_it_takes_from_others_leads_to_the_next_alone),
            cmocka_unit_test(one_finds_out_whether_it_is_well),
            cmocka_unit_test(a_mail_that_can_not_be_sent_says_nothing_of_its_provider),
            cmocka_unit_test(what_waits_is_looked_at_now_and_then),
            cmocka_unit_test(another_policy_keeps_what_was_learnt_but_asks_again),
            cmocka_unit_test(a_paused_provider_is_passed_over),
            cmocka_unit_test(what_nobody_takes_is_claimed_and_says_so),
            cmocka_unit_test(retries_are_held_when_it_fails_at_large),
            cmocka_unit_test(what_waits_at_a_gate_neither_fills_nor_drains_the_budget),
            cmocka_unit_test(what_never_left_gives_its_permits_back),
            cmocka_unit_test(permits_are_asked_for_by_channel_and_provider),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
