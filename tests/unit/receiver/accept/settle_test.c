// Every cell of (state of a delivery x what a receipt says), and what belongs to an earlier try.
#include "receiver/accept/settle.h"
#include "tests/test.h"

#include <stdio.h>

#define S INT64_C(1000000)

static struct message message = {
        .wait_ms = (int64_t[]){5000, 60000}, .n_wait = 2, .jitter_percent = 0};

static struct settle a_delivery(int state, int order)
{
    return (struct settle){.there = true,
            .state0 = state,
            .state = state,
            .tries = 1,
            .order = order,
            .now_us = 1000 * S,
            .retry_until_us = 5000 * S};
}

static struct receipt a_receipt(enum receipt_kind kind)
{
    return (struct receipt){
            .kind = kind, .channel = CHANNEL_SMS, .placed = true, .said = "twilio says so"};
}

// Columns: accepted delivered temporary refused bounced complained. = nothing new, - stale, a
// digit or letter the state it comes to: 0 due again, A accepted, D delivered, R refused, B
// bounced, C complained.
static const struct cell {
    const char *name;
    int state;
    bool asks, doubt;
    const char *once, *least; // at most once, at least once
} cells[] = {
        {"due", 0, false, false, "AD=RBC", "AD=RBC"},
        {"due, its provider is asked first", 0, true, true, "ADBRBC", "AD0RBC"},
        {"due, a try before is in doubt", 0, false, true, "ADBRBC", "AD0RBC"},
        {"wire", 1, false, false, "ADBRBC", "AD0RBC"},
        {"wire, a try before is in doubt", 1, false, true, "AD---C", "AD---C"},
        {"accepted", 2, false, false, "=DBRBC", "=D0RBC"},
        {"refused", 3, false, false, "=D-==C", "=D-==C"},
        {"expired", 4, false, false, "=D---C", "=D---C"},
        {"withheld", 5, false, false, "=-----", "=-----"},
        {"superseded", 6, false, false, "=-----", "=-----"},
        {"cancelled", 7, false, false, "=-----", "=-----"},
        {"dead", 8, false, false, "=D---C", "=D---C"},
        {"unknown", 9, false, false, "ADBRBC", "AD0RBC"},
        {"delivered", 10, false, false, "==---C", "==---C"},
        {"bounced", 11, false, false, "=-===C", "=-===C"},
        {"complained", 12, false, false, "=----=", "=----="},
};

static char letter_of(const struct settle *settle, enum settle_outcome outcome)
{
    static const char states[] = {
            [0] = '0', [2] = 'A', [3] = 'R', [10] = 'D', [11] = 'B', [12] = 'C'};
    if (outcome == SETTLE_SAME)
        return '=';
    if (outcome == SETTLE_STALE)
        return '-';
    return outcome == SETTLE_MOVED ? states[settle->state] : '?';
}

static void a_receipt_moves_a_delivery_forward_only(void **state)
{
    (void)state;
    static const enum receipt_kind kinds[] = {RECEIPT_ACCEPTED, RECEIPT_DELIVERED,
            RECEIPT_TEMPORARY, RECEIPT_REFUSED, RECEIPT_BOUNCED, RECEIPT_COMPLAINED};
    for (size_t i = 0; i < ARRAY_LEN(cells); i++) {
        for (int order = AT_MOST_ONCE; order <= AT_LEAST_ONCE; order++) {
            char found[ARRAY_LEN(kinds) + 1] = "";
            for (size_t k = 0; k < ARRAY_LEN(kinds); k++) {
                struct settle settle = a_delivery(cells[i].state, order);
                settle.asks = cells[i].asks;
                settle.doubt = cells[i].doubt;
                struct receipt receipt = a_receipt(kinds[k]);
                enum settle_outcome outcome = settle_judge(&settle, &receipt, &message, 0);
                found[k] = letter_of(&settle, outcome);
                assert_row(settle.changed == (outcome == SETTLE_MOVED), cells[i].name);
                bool waits = cells[i].doubt && !cells[i].asks; // for its next try, already
                assert_row(settle.again == (found[k] == '0' && !waits), cells[i].name);
                assert_row(
                        outcome == SETTLE_MOVED || settle.state == cells[i].state, cells[i].name);
            }
            assert_string_equal(found, order == AT_MOST_ONCE ? cells[i].once : cells[i].least);
        }
    }
}

static void an_end_says_why(void **state)
{
    (void)state;
    struct settle settle = a_delivery(SETTLE_ACCEPTED, AT_LEAST_ONCE);
    struct receipt receipt = a_receipt(RECEIPT_BOUNCED);
    assert_int_equal(settle_judge(&settle, &receipt, &message, 0), SETTLE_MOVED);
    assert_string_equal(settle.reason, "twilio says so");
    settle = a_delivery(SETTLE_UNKNOWN, AT_LEAST_ONCE);
    receipt = a_receipt(RECEIPT_DELIVERED);
    assert_int_equal(settle_judge(&settle, &receipt, &message, 0), SETTLE_MOVED);
    assert_string_equal(settle.reason, "");
}

static void a_temporary_failure_waits_its_rung_and_at_least_what_the_code_asks(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        int tries;
        int64_t asked_s, retry_until_s, expires_s, want_ms; // -1: it ends
    } cases[] = {
            {"first rung", 1, 0, 5000, 0, 5000},
            {"second rung", 2, 0, 5000, 0, 60000},
            {"last rung repeats", 9, 0, 5000, 0, 60000},
            {"the code asks for more", 1, 600, 5000, 0, 600000},
            {"no retry", 1, 0, 0, 0, -1},
            {"past the retries' end", 1, 0, 1004, 0, -1},
            {"past its expiry", 1, 0, 5000, 1004, -1},
            {"just before its expiry", 1, 0, 5000, 1006, 5000},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct settle settle = a_delivery(SETTLE_ACCEPTED, AT_LEAST_ONCE);
        struct receipt receipt = a_receipt(RECEIPT_TEMPORARY);
        receipt.wait_s = cases[i].asked_s;
        settle.tries = cases[i].tries;
        settle.retry_until_us = cases[i].retry_until_s * S;
        settle.expires_us = cases[i].expires_s * S;
        assert_row(settle_judge(&settle, &receipt, &message, 0) == SETTLE_MOVED, cases[i].name);
        assert_row(settle.again == (cases[i].want_ms >= 0), cases[i].name);
        assert_row(settle.state == (settle.again ? SETTLE_DUE : SETTLE_BOUNCED), cases[i].name);
        assert_row(settle.wait_ms == (settle.again ? cases[i].want_ms : 0), cases[i].name);
    }
}

// The try in doubt is known to have failed; when the next one goes is what it was, but for what the
// code asks.
static void what_waits_for_its_next_try_keeps_its_time(void **state)
{
    (void)state;
    for (int64_t asked_s = 0; asked_s <= 600; asked_s += 600) {
        struct settle settle = a_delivery(SETTLE_DUE, AT_LEAST_ONCE);
        struct receipt receipt = a_receipt(RECEIPT_TEMPORARY);
        settle.doubt = true;
        settle.retry_until_us = 1001 * S; // sooner than the ladder's next rung
        receipt.wait_s = asked_s;
        assert_int_equal(settle_judge(&settle, &receipt, &message, 0), SETTLE_MOVED);
        assert_int_equal(settle.state, SETTLE_DUE);
        assert_int_equal(settle.again, asked_s > 0);
        assert_int_equal(settle.wait_ms, asked_s * 1000);
        // Of two tries in doubt each is spoken of once: the state is read anew for the next word.
        assert_int_equal(settle_judge(&settle, &receipt, &message, 0), SETTLE_SAME);
        settle_fini(&settle);
    }
}

static void a_ladder_that_waits_for_nothing_is_due_at_once(void **state)
{
    (void)state;
    struct message at_once = {.wait_ms = (int64_t[]){0}, .n_wait = 1};
    struct settle settle = a_delivery(SETTLE_ACCEPTED, AT_LEAST_ONCE);
    struct receipt receipt = a_receipt(RECEIPT_TEMPORARY);
    assert_int_equal(settle_judge(&settle, &receipt, &at_once, 0), SETTLE_MOVED);
    assert_true(settle.state == SETTLE_DUE && settle.again && settle.wait_ms == 0);
    settle_fini(&settle);
}

static void what_an_earlier_try_came_to_does_not_touch_the_one_that_counts(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        int state;
        const char *stored, *said;
        enum receipt_kind kind;
        enum settle_outcome want;
    } cases[] = {
            {"accepted, its own id", 2, "SM2", "SM2", RECEIPT_BOUNCED, SETTLE_MOVED},
            {"accepted, an earlier id", 2, "SM2", "SM1", RECEIPT_BOUNCED, SETTLE_STALE},
            {"accepted, an earlier id, temporary", 2, "SM2", "SM1", RECEIPT_TEMPORARY,
                    SETTLE_STALE},
            {"accepted, an earlier id, but there", 2, "SM2", "SM1", RECEIPT_DELIVERED,
                    SETTLE_MOVED},
            {"wire, the id of the try before", 1, "SM1", "SM1", RECEIPT_BOUNCED, SETTLE_STALE},
            {"wire, a new id", 1, "SM1", "SM2", RECEIPT_BOUNCED, SETTLE_MOVED},
            {"wire, none known", 1, NULL, "SM1", RECEIPT_BOUNCED, SETTLE_MOVED},
            {"unknown, a new id", 9, "SM1", "SM2", RECEIPT_TEMPORARY, SETTLE_MOVED},
            {"unknown, the id of the try before", 9, "SM1", "SM1", RECEIPT_TEMPORARY, SETTLE_STALE},
            {"waits after it failed, 'sent' comes late", 0, "SM1", "SM1", RECEIPT_ACCEPTED,
                    SETTLE_SAME},
            {"waits after a lost reply, 'sent' comes", 0, NULL, "SM1", RECEIPT_ACCEPTED,
                    SETTLE_MOVED},
            {"wire, 'sent' of the try before", 1, "SM1", "SM1", RECEIPT_ACCEPTED, SETTLE_SAME},
            {"wire, an earlier one that failed", 1, "SM2", "SM0", RECEIPT_BOUNCED, SETTLE_STALE},
            {"wire, 'sent' of an earlier one that failed", 1, "SM2", "SM0", RECEIPT_ACCEPTED,
                    SETTLE_SAME},
            {"waits, 'sent' of an earlier one that failed", 0, "SM2", "SM0", RECEIPT_ACCEPTED,
                    SETTLE_SAME},
            {"waits, an earlier one that failed is there", 0, "SM2", "SM0", RECEIPT_DELIVERED,
                    SETTLE_MOVED},
            {"waits after it failed, and fails for good", 0, "SM0", "SM0", RECEIPT_BOUNCED,
                    SETTLE_MOVED},
            {"accepted, no id said", 2, "SM2", "", RECEIPT_BOUNCED, SETTLE_MOVED},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct settle settle = a_delivery(cases[i].state, AT_LEAST_ONCE);
        struct receipt receipt = a_receipt(cases[i].kind);
        settle.provider_id = cases[i].stored ? xstrdup(cases[i].stored) : NULL;
        settle_failed(&settle, "SM0");
        snprintf(receipt.id, sizeof receipt.id, "%s", cases[i].said);
        assert_row(settle_judge(&settle, &receipt, &message, 0) == cases[i].want, cases[i].name);
        settle_fini(&settle);
    }
}

static void bad_news_of_another_provider_is_of_another_try(void **state)
{
    (void)state;
    static const struct {
        const char *name, *driver, *provider;
        enum receipt_kind kind;
        enum settle_outcome want;
    } cases[] = {
            {"its own", "twilio", "twilio", RECEIPT_BOUNCED, SETTLE_MOVED},
            {"another's", "telnyx", "twilio", RECEIPT_BOUNCED, SETTLE_STALE},
            {"another's, temporary", "telnyx", "twilio", RECEIPT_TEMPORARY, SETTLE_STALE},
            {"another's, but there", "telnyx", "twilio", RECEIPT_DELIVERED, SETTLE_MOVED},
            {"by any", NULL, "twilio", RECEIPT_BOUNCED, SETTLE_MOVED},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct settle settle = a_delivery(SETTLE_WIRE, AT_LEAST_ONCE);
        struct receipt receipt = a_receipt(cases[i].kind);
        settle.driver = cases[i].driver ? xstrdup(cases[i].driver) : NULL;
        receipt.provider = cases[i].provider;
        assert_row(settle_judge(&settle, &receipt, &message, 0) == cases[i].want, cases[i].name);
        settle_fini(&settle);
    }
}

static void several_of_one_batch_are_judged_on_the_running_state(void **state)
{
    (void)state;
    static const enum receipt_kind order[] = {RECEIPT_DELIVERED, RECEIPT_ACCEPTED,
            RECEIPT_TEMPORARY, RECEIPT_COMPLAINED, RECEIPT_DELIVERED};
    static const enum settle_outcome want[] = {
            SETTLE_MOVED, SETTLE_SAME, SETTLE_STALE, SETTLE_MOVED, SETTLE_STALE};
    struct settle settle = a_delivery(SETTLE_WIRE, AT_LEAST_ONCE);
    for (size_t i = 0; i < ARRAY_LEN(order); i++) {
        struct receipt receipt = a_receipt(order[i]);
        assert_int_equal(settle_judge(&settle, &receipt, &message, 0), want[i]);
    }
    assert_int_equal(settle.state, SETTLE_COMPLAINED);
}

static void what_was_never_sent_or_is_not_there_is_not_moved(void **state)
{
    (void)state;
    struct settle settle = a_delivery(SETTLE_DUE, AT_LEAST_ONCE);
    struct receipt receipt = a_receipt(RECEIPT_DELIVERED);
    settle.tries = 0;
    assert_int_equal(settle_judge(&settle, &receipt, &message, 0), SETTLE_STALE);
    settle.there = false;
    assert_int_equal(settle_judge(&settle, &receipt, &message, 0), SETTLE_NOWHERE);
    settle = a_delivery(SETTLE_ACCEPTED, AT_LEAST_ONCE);
    receipt = a_receipt(RECEIPT_UNSUBSCRIBED);
    assert_int_equal(settle_judge(&settle, &receipt, &message, 0), SETTLE_NOTED);
    assert_false(settle.changed);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
            cmocka_unit_test(a_receipt_moves_a_delivery_forward_only),
            cmocka_unit_test(an_end_says_why),
            cmocka_unit_test(a_temporary_failure_waits_its_rung_and_at_least_what_the_code_asks),
            cmocka_unit_test(a_ladder_that_waits_for_nothing_is_due_at_once),
            cmocka_unit_test(what_waits_for_its_next_try_keeps_its_time),
            cmocka_unit_test(what_an_earlier_try_came_to_does_not_touch_the_one_that_counts),
            cmocka_unit_test(bad_news_of_another_provider_is_of_another_try),
            cmocka_unit_test(several_of_one_batch_are_judged_on_the_running_state),
            cmocka_unit_test(what_was_never_sent_or_is_not_there_is_not_moved),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
