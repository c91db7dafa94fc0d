#include "dispatcher/record/suppress.h"
#include "tests/test.h"

#include <stdio.h>

static const struct row {
    const char *name;
    enum channel_kind channel;
    enum attempt_outcome outcome;
    enum failure_level level;
    int code;
    const char *enhanced, *detail;
    int64_t created_ms, dead_since_ms;
    enum suppression want;
} rows[] = {
        {"no such mailbox", CHANNEL_EMAIL, ATTEMPT_REFUSED, LEVEL_ADDRESS, 550, "5.1.1", "", 9, 0,
                SUPPRESSED_HARD_BOUNCE},
        {"no such domain", CHANNEL_EMAIL, ATTEMPT_REFUSED, LEVEL_ADDRESS, 550, "5.1.2", "", 9, 0,
                SUPPRESSED_HARD_BOUNCE},
        {"null MX", CHANNEL_EMAIL, ATTEMPT_REFUSED, LEVEL_ADDRESS, 556, "5.1.10", "", 9, 0,
                SUPPRESSED_HARD_BOUNCE},
        {"disabled", CHANNEL_EMAIL, ATTEMPT_REFUSED, LEVEL_ADDRESS, 550, "5.2.1", "", 9, 0,
                SUPPRESSED_HARD_BOUNCE},
        {"inactive at Postmark", CHANNEL_EMAIL, ATTEMPT_REFUSED, LEVEL_ADDRESS, 422, "406", "", 9,
                0, SUPPRESSED_HARD_BOUNCE},
        {"mailbox full", CHANNEL_EMAIL, ATTEMPT_REFUSED, LEVEL_ADDRESS, 552, "5.2.2", "", 9, 0,
                SUPPRESSED_NOT},
        {"a code without a reason", CHANNEL_EMAIL, ATTEMPT_REFUSED, LEVEL_ADDRESS, 550, "", "", 9,
                0, SUPPRESSED_NOT},
        {"of the message", CHANNEL_EMAIL, ATTEMPT_REFUSED, LEVEL_MESSAGE, 550, "5.1.1", "", 9, 0,
                SUPPRESSED_NOT},
        {"of the provider", CHANNEL_EMAIL, ATTEMPT_REFUSED, LEVEL_PROVIDER, 550, "5.1.1", "", 9, 0,
                SUPPRESSED_NOT},
        {"for now", CHANNEL_EMAIL, ATTEMPT_RETRY, LEVEL_ADDRESS, 450, "5.1.1", "", 9, 0,
                SUPPRESSED_NOT},
        {"taken", CHANNEL_EMAIL, ATTEMPT_ACCEPTED, LEVEL_ADDRESS, 250, "", "", 9, 0,
                SUPPRESSED_NOT},
        {"unknown", CHANNEL_EMAIL, ATTEMPT_UNKNOWN, LEVEL_ADDRESS, 550, "5.1.1", "", 9, 0,
                SUPPRESSED_NOT},
        {"refused by us", CHANNEL_EMAIL, ATTEMPT_REFUSED, LEVEL_ADDRESS, 0, "5.1.1", "", 9, 0,
                SUPPRESSED_NOT},
        {"opted out at Twilio", CHANNEL_SMS, ATTEMPT_REFUSED, LEVEL_ADDRESS, 400, "21610", "", 9, 0,
                SUPPRESSED_OPT_OUT},
        {"opted out at Telnyx", CHANNEL_SMS, ATTEMPT_REFUSED, LEVEL_ADDRESS, 400, "40300", "", 9, 0,
                SUPPRESSED_OPT_OUT},
        {"no mobile", CHANNEL_SMS, ATTEMPT_REFUSED, LEVEL_ADDRESS, 400, "21614", "", 9, 0,
                SUPPRESSED_HARD_BOUNCE},
        {"blocked by a carrier", CHANNEL_SMS, ATTEMPT_REFUSED, LEVEL_ADDRESS, 400, "30004", "", 9,
                0, SUPPRESSED_NOT},
        {"a mail's code of a text message", CHANNEL_SMS, ATTEMPT_REFUSED, LEVEL_ADDRESS, 400,
                "5.1.1", "", 9, 0, SUPPRESSED_NOT},
        {"gone, nothing said of when", CHANNEL_PUSH, ATTEMPT_REFUSED, LEVEL_ADDRESS, 410, "", "", 9,
                0, SUPPRESSED_UNREGISTERED},
        {"gone after it was given to us", CHANNEL_PUSH, ATTEMPT_REFUSED, LEVEL_ADDRESS, 410,
                "Unregistered", "Unregistered", 1000, 1001, SUPPRESSED_UNREGISTERED},
        {"gone at that moment", CHANNEL_PUSH, ATTEMPT_REFUSED, LEVEL_ADDRESS, 410, "Unregistered",
                "Unregistered", 1000, 1000, SUPPRESSED_UNREGISTERED},
        {"gone before it was given to us", CHANNEL_PUSH, ATTEMPT_REFUSED, LEVEL_ADDRESS, 410,
                "Unregistered", "Unregistered", 1001, 1000, SUPPRESSED_NOT},
        {"another project's token", CHANNEL_PUSH, ATTEMPT_REFUSED, LEVEL_ADDRESS, 403, "",
                "SENDER_ID_MISMATCH no", 9, 0, SUPPRESSED_NOT},
};

static void only_a_definite_word_about_the_address_suppresses_it(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct row *row = &rows[i];
        struct delivery delivery = {.channel = row->channel, .created_us = row->created_ms * 1000};
        delivery.result = (struct attempt_result){.outcome = row->outcome,
                .level = row->level,
                .code = row->code,
                .dead_since_ms = row->dead_since_ms};
        snprintf(delivery.result.enhanced, sizeof delivery.result.enhanced, "%s", row->enhanced);
        snprintf(delivery.result.detail, sizeof delivery.result.detail, "%s", row->detail);
        assert_row(suppression_of(&delivery) == row->want, row->name);
    }
}

#define MINUTE ((int64_t)60 * 1000)

static void note(struct guard *guard, const char *provider, int dead, int fine, int64_t now_ms)
{
    for (int i = 0; i < dead + fine; i++)
        guard_note(guard, provider, i < dead, now_ms);
}

static void the_guard_closes_when_more_die_than_fifty_and_a_fifth(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        int dead, fine;
        bool allows;
    } cases[] = {{"nothing", 0, 0, true}, {"few, all dead", 50, 0, true},
            {"one more", 51, 0, false}, {"many, of more", 100, 400, true},
            {"one of the fifth more", 101, 399, false},
            {"very many, of very many", 999, 4001, true}};
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct guard *guard = guard_new();
        bool changed = false;
        note(guard, "p", cases[i].dead, cases[i].fine, 5 * MINUTE);
        assert_row(
                guard_allows(guard, "p", 5 * MINUTE, &changed) == cases[i].allows, cases[i].name);
        assert_row(changed == !cases[i].allows, cases[i].name);
        (void)guard_allows(guard, "p", 5 * MINUTE, &changed);
        assert_row(!changed, cases[i].name);
        assert_row(guard_allows(guard, "q", 5 * MINUTE, &changed), cases[i].name);
        assert_row(guard_allows(guard, NULL, 5 * MINUTE, &changed), cases[i].name);
        guard_free(guard);
    }
}

static void the_guard_counts_the_last_ten_minutes(void **state)
{
    (void)state;
    struct guard *guard = guard_new();
    bool changed = false;
    note(guard, "p", 30, 0, 100 * MINUTE);
    note(guard, "p", 30, 0, 105 * MINUTE);
    assert_false(guard_allows(guard, "p", 109 * MINUTE, &changed));
    assert_true(guard_allows(guard, "p", 110 * MINUTE, &changed));
    assert_true(changed);
    note(guard, "p", 30, 0, 110 * MINUTE); // the same place as the first ones
    assert_false(guard_allows(guard, "p", 110 * MINUTE, &changed));
    assert_true(guard_allows(guard, "p", 200 * MINUTE, &changed));
    guard_free(guard);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(only_a_definite_word_about_the_address_suppresses_it),
            cmocka_unit_test(the_guard_closes_when_more_die_than_fifty_and_a_fifth),
            cmocka_unit_test(the_guard_counts_the_last_ten_minutes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
