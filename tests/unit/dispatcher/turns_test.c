#include "dispatcher/turns.h"
#include "tests/test.h"

#define POLL_MS 50

static int used[CHANNEL_COUNT], stocked[CHANNEL_COUNT], coming[CHANNEL_COUNT];

static struct turns turns_of(int transfers, const char *active)
{
    struct turns turns;
    memset(used, 0, sizeof used);
    memset(stocked, 0, sizeof stocked);
    memset(coming, 0, sizeof coming);
    turns_init(&turns, transfers, POLL_MS, used, stocked, coming);
    for (enum channel_kind kind = CHANNEL_EMAIL; kind < CHANNEL_COUNT; kind++)
        turns.active[kind] = strstr(active, channel_name(kind)) != NULL;
    return turns;
}

static void a_channel_has_slots_that_no_other_takes(void **state)
{
    (void)state;
    static const struct {
        const char *name, *active;
        int transfers, email, sms, push; // in flight
        int want[3];                     // free: email, sms, push
    } rows[] = {
            {"alone it has all", "email", 40, 0, 0, 0, {40, 1, 1}},
            {"alone and full", "email", 40, 40, 0, 0, {0, 1, 1}},
            {"of three each may have half", "email sms push", 40, 0, 0, 0, {20, 20, 20}},
            {"what is shared goes to who comes first", "email sms push", 40, 20, 0, 0, {0, 10, 10}},
            {"a full one leaves the others theirs", "email sms push", 40, 20, 10, 0, {0, 0, 10}},
            {"what comes free is shared again", "email sms push", 40, 15, 10, 0, {5, 5, 15}},
            {"one slot: one each", "email sms push", 1, 1, 0, 0, {0, 1, 1}},
            {"a policy that let more fly", "email sms", 12, 12, 0, 0, {0, 4, 1}},
            {"an inactive one in flight", "email sms", 12, 0, 0, 1, {7, 7, 3}},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct turns turns = turns_of(rows[i].transfers, rows[i].active);
        used[CHANNEL_EMAIL] = rows[i].email;
        used[CHANNEL_SMS] = rows[i].sms;
        used[CHANNEL_PUSH] = rows[i].push;
        for (int kind = CHANNEL_EMAIL; kind < CHANNEL_COUNT; kind++)
            assert_row(turns_free(&turns, (enum channel_kind)kind) == rows[i].want[kind - 1],
                    rows[i].name);
    }
}

static void channels_take_turns(void **state)
{
    (void)state;
    struct turns turns = turns_of(40, "email sms push");
    int asked[CHANNEL_COUNT] = {0}, free = 0;
    for (int i = 0; i < 30; i++) {
        enum channel_kind channel = turns_next(&turns, 1000, &free);
        asked[channel]++;
        turns_took(&turns, channel, 1000, 5, true); // each has work without end
    }
    assert_int_equal(asked[CHANNEL_NONE], 0);
    assert_int_equal(asked[CHANNEL_EMAIL], 10);
    assert_int_equal(asked[CHANNEL_SMS], 10);
    assert_int_equal(asked[CHANNEL_PUSH], 10);
}

static void an_idle_channel_is_asked_slower_and_a_full_one_not_at_all(void **state)
{
    (void)state;
    struct turns turns = turns_of(40, "email");
    int free = 0;
    int64_t now = 1000, waits[4];
    used[CHANNEL_EMAIL] = 40;
    used[CHANNEL_SMS] = used[CHANNEL_PUSH] = 1;
    assert_int_equal(turns_next(&turns, now, &free), CHANNEL_NONE);
    assert_true(turns_at_ms(&turns, now) == INT64_MAX);
    used[CHANNEL_EMAIL] = 0;
    for (size_t i = 0; i < ARRAY_LEN(waits); i++) {
        assert_int_equal(turns_next(&turns, now, &free), CHANNEL_EMAIL);
        assert_int_equal(free, 40);
        turns_took(&turns, CHANNEL_EMAIL, now, 0, false);
        assert_int_equal(turns_next(&turns, now, &free), CHANNEL_NONE);
        waits[i] = turns_at_ms(&turns, now) - now;
        now += waits[i];
    }
    assert_int_equal(waits[0], POLL_MS);
    assert_int_equal(waits[3], TURNS_IDLE_FACTOR * POLL_MS);
    turns_next(&turns, now, &free);
    turns_took(&turns, CHANNEL_EMAIL, now, 1, false);
    assert_int_equal(turns_at_ms(&turns, now) - now, POLL_MS);
}

static void a_few_ended_transfers_are_gathered_while_more_is_due(void **state)
{
    (void)state;
    struct turns turns = turns_of(40, "email");
    int free = 0;
    used[CHANNEL_SMS] = used[CHANNEL_PUSH] = 1;
    assert_int_equal(turns_next(&turns, 1000, &free), CHANNEL_EMAIL);
    turns_took(&turns, CHANNEL_EMAIL, 1000, 38, true);
    used[CHANNEL_EMAIL] = 36; // two of 38 have ended
    assert_int_equal(turns_next(&turns, 1000, &free), CHANNEL_NONE);
    assert_int_equal(turns_at_ms(&turns, 1000), 1000 + POLL_MS);
    assert_int_equal(turns_next(&turns, 1000 + POLL_MS, &free), CHANNEL_EMAIL);
    used[CHANNEL_EMAIL] = 20;
    assert_int_equal(turns_next(&turns, 1000, &free), CHANNEL_EMAIL);
    turns_again(&turns, CHANNEL_EMAIL, 1200);
    assert_int_equal(turns_at_ms(&turns, 1200), 1200);
}

static void accept(struct turns *turns, int n, int64_t now_ms)
{
    for (int i = 0; i < n; i++)
        turns_accepted(turns, CHANNEL_EMAIL, TURNS_QUICK_MS, now_ms);
}

static void as_many_are_claimed_ahead_as_were_accepted_a_moment_ago(void **state)
{
    (void)state;
    const int64_t tick = TURNS_AHEAD_MS;
    static const struct {
        const char *name;
        int first, second; // accepted in two ticks
        int64_t at;        // ticks after the first
        int want;
    } rows[] = {
            {"none", 0, 0, 0, 0},
            {"in this tick", 30, 0, 0, 30},
            {"in the tick before", 30, 0, 1, 30},
            {"long ago", 30, 0, 2, 0},
            {"the better of two", 30, 10, 1, 30},
            {"more and more", 10, 30, 1, 30},
            {"the last one counts", 30, 10, 2, 10},
            {"however many", 5000, 0, 1, TURNS_AHEAD_MAX},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct turns turns = turns_of(40, "email");
        accept(&turns, rows[i].first, 20 * tick + 1);
        accept(&turns, rows[i].second, 21 * tick + 1);
        int64_t now = (20 + rows[i].at) * tick + 2;
        assert_row(turns_ahead(&turns, CHANNEL_EMAIL, now) == rows[i].want, rows[i].name);
        assert_row(turns_ahead(&turns, CHANNEL_SMS, now) == 0, rows[i].name);
    }
}

static void what_took_its_time_is_no_reason_to_claim_ahead(void **state)
{
    (void)state;
    struct turns turns = turns_of(40, "email");
    for (int i = 0; i < 40; i++) // a wave of answers
        turns_accepted(&turns, CHANNEL_EMAIL, TURNS_QUICK_MS + 1, 1000);
    assert_int_equal(turns_ahead(&turns, CHANNEL_EMAIL, 1000), 0);
    accept(&turns, 3, 1000);
    assert_int_equal(turns_ahead(&turns, CHANNEL_EMAIL, 1000), 3);
}

static void what_was_claimed_ahead_takes_the_transfers_first(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        int used, stocked, accepted, want, coming;
    } rows[] = {
            {"all transfers are free", 0, 0, 0, 40, 0},
            {"and some may wait", 0, 0, 100, 140, 0},
            {"none is free, some may wait", 40, 0, 100, 100, 0},
            {"some wait already", 40, 30, 100, 70, 0},
            {"all that may", 40, 100, 100, 0, 0},
            {"more than may: its provider became slow", 40, 100, 10, 0, 0},
            {"what waits gets what came free", 35, 100, 100, 5, 0},
            {"claims under way bring some", 40, 30, 100, 50, 20},
            {"and all that may", 40, 30, 100, 0, 70},
            {"they bring what is free", 0, 0, 0, 0, 40},
    };
    used[CHANNEL_SMS] = used[CHANNEL_PUSH] = 1;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct turns turns = turns_of(40, "email");
        int free = 0;
        used[CHANNEL_SMS] = used[CHANNEL_PUSH] = 1;
        used[CHANNEL_EMAIL] = rows[i].used;
        stocked[CHANNEL_EMAIL] = rows[i].stocked;
        coming[CHANNEL_EMAIL] = rows[i].coming;
        accept(&turns, rows[i].accepted, 1000);
        enum channel_kind channel = turns_next(&turns, 1000, &free);
        assert_row(channel == (rows[i].want ? CHANNEL_EMAIL : CHANNEL_NONE), rows[i].name);
        assert_row(free == rows[i].want, rows[i].name);
    }
}

static void where_there_is_a_rate_nothing_is_claimed_ahead(void **state)
{
    (void)state;
    for (int of_channel = 0; of_channel < 3; of_channel++) {
        struct provider providers[2] = {{0}};
        struct policy policy = {0};
        struct turns turns = turns_of(40, "email");
        struct channel *email = &policy.channels[CHANNEL_EMAIL];
        email->providers = providers;
        email->n_providers = 2;
        email->rate = of_channel == 1 ? 10 : 0;
        providers[1].rate = of_channel == 2 ? 10 : 0;
        turns_policy(&turns, &policy);
        turns_now(&turns);
        accept(&turns, 30, 1000);
        assert_int_equal(turns_ahead(&turns, CHANNEL_EMAIL, 1000), of_channel ? 0 : 30);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(a_channel_has_slots_that_no_other_takes),
            cmocka_unit_test(channels_take_turns),
            cmocka_unit_test(an_idle_channel_is_asked_slower_and_a_full_one_not_at_all),
            cmocka_unit_test(a_few_ended_transfers_are_gathered_while_more_is_due),
            cmocka_unit_test(as_many_are_claimed_ahead_as_were_accepted_a_moment_ago),
            cmocka_unit_test(what_took_its_time_is_no_reason_to_claim_ahead),
            cmocka_unit_test(what_was_claimed_ahead_takes_the_transfers_first),
            cmocka_unit_test(where_there_is_a_rate_nothing_is_claimed_ahead),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
