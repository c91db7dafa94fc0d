#include "dispatcher/record/decide.h"
#include "tests/test.h"

#define S ((int64_t)1000000) // a second in database time
#define NOW (1000 * S)

static int64_t ladder[] = {10000, 60000, 600000};

static const struct message spec = {
        .wait_ms = ladder, .n_wait = 3, .jitter_percent = 0, .retry_for_s = 3600};

// Every outcome under both orders, with and without time left, and after an unknown try.
static const struct row {
    const char *name;
    enum delivery_order order;
    enum attempt_outcome outcome;
    enum failure_level level;
    int tries, earlier_unknown;
    int64_t retry_left_s, expires_left_s; // 0 = no bound in the row; negative = past
    int64_t retry_after_ms;
    enum delivery_state state;
    int64_t wait_ms; // -1 = not again
    bool unknown_spent;
} rows[] = {
        {"accepted ends it", AT_MOST_ONCE, ATTEMPT_ACCEPTED, LEVEL_MESSAGE, 1, 0, 600, 0, 0,
                DELIVERY_ACCEPTED, -1, false},
        {"accepted after an unknown try is accepted", AT_LEAST_ONCE, ATTEMPT_ACCEPTED,
                LEVEL_MESSAGE, 2, 1, -5, -5, 0, DELIVERY_ACCEPTED, -1, false},
        {"a refused message ends it", AT_LEAST_ONCE, ATTEMPT_REFUSED, LEVEL_MESSAGE, 1, 0, 600, 0,
                0, DELIVERY_REFUSED, -1, false},
        {"a refused address ends it", AT_MOST_ONCE, ATTEMPT_REFUSED, LEVEL_ADDRESS, 1, 0, 600, 0, 0,
                DELIVERY_REFUSED, -1, false},
        {"a provider that refuses us says nothing of the message", AT_MOST_ONCE, ATTEMPT_REFUSED,
                LEVEL_PROVIDER, 1, 0, 600, 0, 0, DELIVERY_DUE, 10000, false},
        {"retry waits the first rung", AT_LEAST_ONCE, ATTEMPT_RETRY, LEVEL_MESSAGE, 1, 0, 600, 0, 0,
                DELIVERY_DUE, 10000, false},
        {"what was surely not taken is tried again at most once too", AT_MOST_ONCE, ATTEMPT_RETRY,
                LEVEL_MESSAGE, 2, 0, 600, 0, 0, DELIVERY_DUE, 60000, false},
        {"the last rung repeats", AT_LEAST_ONCE, ATTEMPT_RETRY, LEVEL_MESSAGE, 9, 0, 6000, 0, 0,
                DELIVERY_DUE, 600000, false},
        {"the peer's wish lengthens the wait", AT_LEAST_ONCE, ATTEMPT_RETRY, LEVEL_MESSAGE, 1, 0,
                600, 0, 30000, DELIVERY_DUE, 30000, false},
        {"the peer's wish never shortens it", AT_LEAST_ONCE, ATTEMPT_RETRY, LEVEL_MESSAGE, 1, 0,
                600, 0, 5, DELIVERY_DUE, 10000, false},
        {"retries ran out", AT_LEAST_ONCE, ATTEMPT_RETRY, LEVEL_MESSAGE, 1, 0, 5, 0, 0,
                DELIVERY_DEAD, -1, false},
        {"retries ran out long ago", AT_MOST_ONCE, ATTEMPT_RETRY, LEVEL_MESSAGE, 1, 0, -5, 0, 0,
                DELIVERY_DEAD, -1, false},
        {"retries ran out after an unknown try", AT_LEAST_ONCE, ATTEMPT_RETRY, LEVEL_MESSAGE, 2, 1,
                5, 0, 0, DELIVERY_UNKNOWN, -1, false},
        {"a provider's failure gets a last try before the end", AT_LEAST_ONCE, ATTEMPT_RETRY,
                LEVEL_PROVIDER, 1, 0, 5, 0, 0, DELIVERY_DUE, 4000, false},
        {"but not one too close to it", AT_LEAST_ONCE, ATTEMPT_RETRY, LEVEL_PROVIDER, 1, 0, 1, 0, 0,
                DELIVERY_DEAD, -1, false},
        {"a provider's failure waits five minutes at most", AT_LEAST_ONCE, ATTEMPT_RETRY,
                LEVEL_PROVIDER, 50, 0, 6000, 0, 0, DELIVERY_DUE, 300000, false},
        {"it would expire before the next try", AT_LEAST_ONCE, ATTEMPT_RETRY, LEVEL_MESSAGE, 1, 0,
                600, 10, 0, DELIVERY_EXPIRED, -1, false},
        {"it would expire after an unknown try", AT_LEAST_ONCE, ATTEMPT_RETRY, LEVEL_MESSAGE, 2, 1,
                600, 10, 0, DELIVERY_UNKNOWN, -1, false},
        {"unknown stays unknown at most once", AT_MOST_ONCE, ATTEMPT_UNKNOWN, LEVEL_MESSAGE, 1, 0,
                600, 0, 0, DELIVERY_UNKNOWN, -1, false},
        {"unknown by a provider's failure too", AT_MOST_ONCE, ATTEMPT_UNKNOWN, LEVEL_PROVIDER, 1, 0,
                600, 0, 0, DELIVERY_UNKNOWN, -1, false},
        {"unknown is tried again at least once", AT_LEAST_ONCE, ATTEMPT_UNKNOWN, LEVEL_MESSAGE, 1,
                0, 600, 0, 0, DELIVERY_DUE, 10000, true},
        {"unknown without time left stays unknown", AT_LEAST_ONCE, ATTEMPT_UNKNOWN, LEVEL_MESSAGE,
                1, 0, 5, 0, 0, DELIVERY_UNKNOWN, -1, false},
        {"given back is due at once", AT_MOST_ONCE, ATTEMPT_GIVEN_BACK, LEVEL_MESSAGE, 3, 0, -5, 0,
                0, DELIVERY_DUE, 0, false},
        {"given back is due at once, at least once too", AT_LEAST_ONCE, ATTEMPT_GIVEN_BACK,
                LEVEL_MESSAGE, 3, 1, 600, 0, 0, DELIVERY_DUE, 0, false},
};

static struct delivery delivery_of(const struct row *row)
{
    return (struct delivery){.order = row->order,
            .tries = row->tries,
            .earlier_unknown = row->earlier_unknown,
            .created_us = NOW - 100 * S,
            .retry_until_us = row->retry_left_s ? NOW + row->retry_left_s * S : 0,
            .expires_us = row->expires_left_s ? NOW + row->expires_left_s * S : 0,
            .result = {.outcome = row->outcome,
                    .level = row->level,
                    .retry_after_ms = row->retry_after_ms}};
}

static void check_row(const struct row *row)
{
    struct delivery delivery = delivery_of(row);
    struct decision got = decide(&delivery, &spec, NOW, UINT32_MAX / 2);
    bool same = got.state == row->state && got.again == (row->wait_ms >= 0) &&
                got.unknown_spent == row->unknown_spent;
    assert_row(same, row->name);
    int64_t wait_ms = got.again ? got.wait_ms : -1;
    assert_row(wait_ms == row->wait_ms, row->name);
    bool good = got.state == DELIVERY_ACCEPTED || got.again;
    assert_row((got.reason == NULL) == good, row->name);
}

static void every_outcome_leads_to_the_state_of_the_table(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        check_row(&rows[i]);
}

static void an_attachment_that_changed_ends_it_with_its_own_words(void **state)
{
    (void)state;
    static const char said[] = "attachment 'a.pdf' is not the file it was";
    for (int unknown = 0; unknown < 2; unknown++) {
        struct delivery delivery = {.order = AT_LEAST_ONCE,
                .tries = 2,
                .created_us = NOW,
                .earlier_unknown = unknown,
                .result = {.outcome = ATTEMPT_REFUSED, .spoilt = true}};
        memcpy(delivery.result.detail, said, sizeof said);
        struct decision got = decide(&delivery, &spec, NOW, 0);
        // What may have been taken is never called dead.
        assert_int_equal(got.state, unknown ? DELIVERY_UNKNOWN : DELIVERY_DEAD);
        assert_false(got.again);
        assert_string_equal(got.reason, said);
    }
}

// Its key says that the first one was taken, perhaps; of a first try it says nothing.
static void a_repeat_that_is_another_message_does_not_end_a_doubt(void **state)
{
    (void)state;
    for (int unknown = 0; unknown < 2; unknown++) {
        struct delivery delivery = {.order = AT_LEAST_ONCE,
                .tries = 2,
                .created_us = NOW,
                .started_ms = 1,
                .earlier_unknown = unknown,
                .result = {
                        .outcome = ATTEMPT_REFUSED, .level = LEVEL_MESSAGE, .other_bytes = true}};
        struct decision got = decide(&delivery, &spec, NOW, 0);
        assert_int_equal(got.state, unknown ? DELIVERY_UNKNOWN : DELIVERY_REFUSED);
        assert_false(got.again);
    }
}

static void jitter_spreads_around_the_rung(void **state)
{
    (void)state;
    struct message message = spec;
    message.jitter_percent = 20;
    struct delivery delivery = delivery_of(&rows[5]);
    assert_int_equal(decide_wait_ms(&delivery, &message, 0), 8000);
    assert_int_equal(decide_wait_ms(&delivery, &message, UINT32_MAX), 12000);
    int64_t middle = decide_wait_ms(&delivery, &message, UINT32_MAX / 2);
    assert_in_range(middle, 9990, 10010);
}

static void what_came_back_together_is_told_to_come_at_different_times(void **state)
{
    (void)state;
    struct message message = spec;
    message.jitter_percent = 20;
    struct delivery delivery = delivery_of(&rows[5]);
    delivery.result.retry_after_ms = 30000;
    assert_int_equal(decide_wait_ms(&delivery, &message, 0), 30000); // never before
    assert_int_equal(decide_wait_ms(&delivery, &message, UINT32_MAX), 36000);
}

// A provider's own errors: what they spend, and where the delivery goes.
static const struct own {
    const char *name;
    enum attempt_outcome outcome;
    enum failure_level level;
    int tries, free_tries;
    bool other;
    int64_t retry_left_s, expires_left_s;
    int64_t wait_ms; // -1 = not again
    bool free, passed_on;
} owns[] = {
        {"a provider's error spends no rung", ATTEMPT_RETRY, LEVEL_PROVIDER, 1, 0, false, 600, 0,
                10000, true, true},
        {"so that a message's error after it waits the first", ATTEMPT_RETRY, LEVEL_MESSAGE, 3, 2,
                false, 600, 0, 10000, false, false},
        {"and one before it keeps its own", ATTEMPT_RETRY, LEVEL_MESSAGE, 3, 1, false, 600, 0,
                60000, false, false},
        {"its own errors climb", ATTEMPT_REFUSED, LEVEL_PROVIDER, 2, 1, false, 600, 0, 60000, true,
                true},
        {"another provider takes it at once", ATTEMPT_REFUSED, LEVEL_PROVIDER, 2, 1, true, 600, 0,
                0, true, true},
        {"also where no retry has time left", ATTEMPT_RETRY, LEVEL_PROVIDER, 1, 0, true, 1, 0, 0,
                true, true},
        {"but not past the end of its time", ATTEMPT_RETRY, LEVEL_PROVIDER, 1, 0, true, -5, 0, -1,
                false, false},
        {"nor when it expired", ATTEMPT_RETRY, LEVEL_PROVIDER, 1, 0, true, 600, -5, -1, false,
                false},
        {"a message's error goes nowhere else", ATTEMPT_RETRY, LEVEL_MESSAGE, 1, 0, true, 600, 0,
                10000, false, false},
        {"nor an address's refusal", ATTEMPT_REFUSED, LEVEL_ADDRESS, 1, 0, true, 600, 0, -1, false,
                false},
        {"nor an unknown outcome", ATTEMPT_UNKNOWN, LEVEL_PROVIDER, 1, 0, true, 600, 0, 10000,
                false, false},
        {"what was given back spent nothing", ATTEMPT_GIVEN_BACK, LEVEL_PROVIDER, 1, 0, true, 600,
                0, 0, true, false},
};

static void a_providers_own_errors_spend_no_try(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(owns); i++) {
        const struct own *own = &owns[i];
        const struct row row = {.order = AT_LEAST_ONCE,
                .outcome = own->outcome,
                .level = own->level,
                .tries = own->tries,
                .retry_left_s = own->retry_left_s,
                .expires_left_s = own->expires_left_s};
        struct delivery delivery = delivery_of(&row);
        delivery.free_tries = own->free_tries;
        delivery.result.other = own->other;
        struct decision got = decide(&delivery, &spec, NOW, UINT32_MAX / 2);
        assert_row((got.again ? got.wait_ms : -1) == own->wait_ms, own->name);
        assert_row(got.free == own->free && got.passed_on == own->passed_on, own->name);
    }
}

static void a_message_without_retries_still_goes_to_another_provider(void **state)
{
    (void)state;
    struct message message = spec;
    message.retry_for_s = 0;
    struct delivery delivery = delivery_of(&rows[4]);
    delivery.retry_until_us = 0;
    assert_false(decide(&delivery, &message, NOW, 0).again);
    delivery.result.other = true;
    assert_true(decide(&delivery, &message, NOW, 0).again);
}

static void retries_end_by_the_row_or_by_the_message(void **state)
{
    (void)state;
    struct delivery delivery = {.created_us = 7 * S};
    assert_int_equal(decide_retry_end_us(&delivery, &spec), (7 + 3600) * S);
    delivery.retry_until_us = 9 * S;
    assert_int_equal(decide_retry_end_us(&delivery, &spec), 9 * S);
    delivery.retry_until_us = 0;
    assert_int_equal(decide_retry_end_us(&delivery, NULL), 0);
}

static void a_message_without_retries_gets_none(void **state)
{
    (void)state;
    struct message message = spec;
    message.retry_for_s = 0;
    struct delivery delivery = delivery_of(&rows[5]);
    delivery.retry_until_us = 0;
    assert_int_equal(decide(&delivery, &message, NOW, 0).state, DELIVERY_DEAD);
}

static void a_message_that_is_not_known_any_more_waits_the_default(void **state)
{
    (void)state;
    struct delivery delivery = delivery_of(&rows[5]);
    struct decision got = decide(&delivery, NULL, NOW, UINT32_MAX / 2);
    assert_true(got.again);
    assert_in_range(got.wait_ms, DECIDE_WAIT_DEFAULT_MS - 10, DECIDE_WAIT_DEFAULT_MS + 10);
}

static struct delivery doubtful(enum delivery_order order, enum attempt_outcome outcome)
{
    return (struct delivery){.order = order,
            .tries = 1,
            .created_us = NOW - 100 * S,
            .retry_until_us = NOW + 90000 * S,
            .result = {.outcome = outcome}};
}

static void a_provider_that_can_be_asked_is_asked_before_another_try(void **state)
{
    (void)state;
    static const struct {
        int64_t settle_ms, wait_ms;
    } waits[] = {{500, 100}, {60000, 6000}, {300000, 30000}, {3600000, 30000}};
    for (size_t i = 0; i < ARRAY_LEN(waits); i++) {
        struct delivery least = doubtful(AT_LEAST_ONCE, ATTEMPT_UNKNOWN);
        least.settle_ms = waits[i].settle_ms;
        struct decision got = decide(&least, &spec, NOW, 0);
        assert_true(got.look && got.again && got.unknown_spent && got.state == DELIVERY_DUE);
        assert_int_equal(got.wait_ms, waits[i].wait_ms);
        assert_int_equal(got.settle_ms, waits[i].settle_ms);
        struct delivery most = doubtful(AT_MOST_ONCE, ATTEMPT_UNKNOWN);
        most.settle_ms = waits[i].settle_ms;
        got = decide(&most, &spec, NOW, 0);
        assert_true(got.look && !got.again && got.state == DELIVERY_UNKNOWN);
    }
    struct delivery refused = doubtful(AT_LEAST_ONCE, ATTEMPT_RETRY);
    refused.settle_ms = 1000;
    assert_false(decide(&refused, &spec, NOW, 0).look);
    struct delivery nobody = doubtful(AT_LEAST_ONCE, ATTEMPT_UNKNOWN);
    assert_false(decide(&nobody, &spec, NOW, 0).look);
}

static void no_repeat_begins_once_its_key_may_be_forgotten(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        enum attempt_outcome outcome;
        int earlier;
        int64_t window_s, doubt_ago_s; // 0 = the doubt is of this try
        enum delivery_state state;
    } cases[] = {
            {"the first doubt", ATTEMPT_UNKNOWN, 0, 86400, 0, DELIVERY_DUE},
            {"well within", ATTEMPT_UNKNOWN, 1, 86400, 80000, DELIVERY_DUE},
            {"within the margin", ATTEMPT_UNKNOWN, 1, 86400, 85790, DELIVERY_UNKNOWN},
            {"long past", ATTEMPT_RETRY, 1, 86400, 90000, DELIVERY_UNKNOWN},
            {"no key", ATTEMPT_UNKNOWN, 1, 0, 90000, DELIVERY_DUE},
            {"no doubt", ATTEMPT_RETRY, 0, 86400, 0, DELIVERY_DUE},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct delivery delivery = doubtful(AT_LEAST_ONCE, cases[i].outcome);
        delivery.earlier_unknown = cases[i].earlier;
        delivery.key_window_ms = cases[i].window_s * 1000;
        delivery.doubt_us = cases[i].doubt_ago_s ? NOW - cases[i].doubt_ago_s * S : 0;
        struct decision got = decide(&delivery, &spec, NOW, UINT32_MAX / 2);
        assert_row(got.state == cases[i].state, cases[i].name);
    }
    struct delivery late = doubtful(AT_LEAST_ONCE, ATTEMPT_GIVEN_BACK);
    late.result.too_late = true;
    assert_int_equal(decide(&late, &spec, NOW, 0).state, DELIVERY_UNKNOWN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(every_outcome_leads_to_the_state_of_the_table),
            cmocka_unit_test(an_attachment_that_changed_ends_it_with_its_own_words),
            cmocka_unit_test(a_repeat_that_is_another_message_does_not_end_a_doubt),
            cmocka_unit_test(jitter_spreads_around_the_rung),
            cmocka_unit_test(what_came_back_together_is_told_to_come_at_different_times),
            cmocka_unit_test(a_providers_own_errors_spend_no_try),
            cmocka_unit_test(a_message_without_retries_still_goes_to_another_provider),
            cmocka_unit_test(retries_end_by_the_row_or_by_the_message),
            cmocka_unit_test(a_message_without_retries_gets_none),
            cmocka_unit_test(a_message_that_is_not_known_any_more_waits_the_default),
            cmocka_unit_test(a_provider_that_can_be_asked_is_asked_before_another_try),
            cmocka_unit_test(no_repeat_begins_once_its_key_may_be_forgotten),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
