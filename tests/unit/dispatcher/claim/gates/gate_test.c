#include "dispatcher/claim/gates/gate.h"
#include "tests/test.h"

#define NOW ((int64_t)1000)

static const struct row {
    const char *name;
    int64_t created, expires, retry_until;
    int tries, earlier_unknown;
    enum gate_kind at;
    enum delivery_state end;
} times[] = {
        {"no bound at all", 100, 0, 0, 0, 0, GATE_COUNT, 0},
        {"time left", 100, 2000, 3000, 4, 0, GATE_COUNT, 0},
        {"expired", 100, 999, 3000, 0, 0, GATE_EXPIRED, DELIVERY_EXPIRED},
        {"expires at this moment", 100, 1000, 3000, 0, 0, GATE_EXPIRED, DELIVERY_EXPIRED},
        {"first try later than all retries", 100, 0, 999, 0, 0, GATE_EXPIRED, DELIVERY_EXPIRED},
        {"retries ran out", 100, 0, 999, 2, 0, GATE_EXPIRED, DELIVERY_DEAD},
        {"a message without retries gets its first try however late", 100, 0, 100, 0, 0, GATE_COUNT,
                0},
        {"expired after an unknown try", 100, 999, 3000, 1, 1, GATE_EXPIRED, DELIVERY_UNKNOWN},
        {"retries ran out after an unknown try", 100, 0, 999, 3, 2, GATE_EXPIRED, DELIVERY_UNKNOWN},
};

static char anywhere[] = "a@example.net";

static void check_times(const struct row *row)
{
    struct delivery delivery = {.created_us = row->created,
            .expires_us = row->expires,
            .retry_until_us = row->retry_until,
            .tries = row->tries,
            .earlier_unknown = row->earlier_unknown,
            .address = anywhere};
    struct gate_facts facts = {.now_us = NOW};
    enum gate_kind at = 0;
    bool asks = true;
    struct verdict verdict = gate_walk(&delivery, &facts, &at, &asks);
    assert_row(at == row->at && !asks, row->name);
    assert_row((verdict.answer == GATE_OPEN) == (row->at == GATE_COUNT), row->name);
    if (verdict.answer != GATE_OPEN)
        assert_row(verdict.end == row->end && verdict.reason[0], row->name);
}

static void a_delivery_past_its_time_ends_instead_of_leaving(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(times); i++)
        check_times(&times[i]);
}

// --- Every gate, every answer

static char quiet_from[] = "21:00", quiet_to[] = "08:00";
#define MINUTE_US (INT64_C(60) * 1000000)
#define LATE_US (100 * MINUTE_US) // the moment of these rows

static struct step steps[] = {{.channel = CHANNEL_PUSH, .active = true},
        {.channel = CHANNEL_EMAIL, .after_s = 600, .unless_channel = CHANNEL_PUSH, .active = true}};
static struct step delivered_steps[] = {{.channel = CHANNEL_EMAIL,
        .after_s = 600,
        .unless_channel = CHANNEL_PUSH,
        .unless_delivered = true}};
static const struct message plain = {.steps = steps, .n_steps = 1},
                            stepped = {.steps = steps, .n_steps = 2},
                            on_delivery = {.steps = delivered_steps, .n_steps = 1},
                            calm = {.quiet_from = quiet_from, .quiet_to = quiet_to},
                            dropped = {.quiet_from = quiet_from,
                                    .quiet_to = quiet_to,
                                    .quiet_drop_after_s = 3600};
static struct cap one_cap[] = {{.most = 1, .in_s = 60}};
static const struct message capped = {.caps = one_cap, .n_caps = 1};
static const struct message *const messages[] = {
        &plain, &stepped, &on_delivery, &calm, &dropped, &capped};
enum { NO_MESSAGE = -1, PLAIN, STEPPED, ON_DELIVERY, CALM, DROPPED, CAPPED };

static char rule[] = "shipped/1/60/recipient/email 0123", collapse[] = "order/1";
static const struct cap_hold held = {.name = rule, .most = 1, .in_ms = 60000};

#define KNOWS(gate) (1u << (gate))

static const struct cell {
    const char *name;
    int message;
    struct gate_facts facts;
    int64_t created_us, expires_us;
    int earlier_unknown, redrive;
    bool no_address, collapses;
    // what is to come out
    enum gate_kind at;
    bool asks;
    enum gate_answer answer;
    enum delivery_state end;
    int64_t until_us;
    const char *reason;
} cells[] = {
        {.name = "nothing is known against it", .message = PLAIN, .at = GATE_COUNT},
        {.name = "its policy version is not in memory", .message = NO_MESSAGE, .at = GATE_COUNT},
        {.name = "cancelled",
                .facts = {.state = DELIVERY_CANCELLED, .pause_id = 7, .pause_reason = "x"},
                .at = GATE_CANCELLED,
                .answer = GATE_END,
                .end = DELIVERY_CANCELLED,
                .reason = ""},
        {.name = "paused until it is resumed",
                .facts = {.pause_id = 7, .pause_reason = "they are down"},
                .at = GATE_PAUSED,
                .answer = GATE_LATER,
                .until_us = -1,
                .reason = "paused: they are down"},
        {.name = "paused for a time",
                .facts = {.pause_id = 7,
                        .pause_until_us = LATE_US + MINUTE_US,
                        .pause_reason = "x"},
                .at = GATE_PAUSED,
                .answer = GATE_LATER,
                .until_us = LATE_US + MINUTE_US,
                .reason = "paused: x"},
        {.name = "paused, and expires before that ends",
                .facts = {.pause_id = 7, .pause_reason = "x"},
                .expires_us = LATE_US + 5,
                .at = GATE_PAUSED,
                .answer = GATE_LATER,
                .until_us = LATE_US + 5,
                .reason = "paused: x"},
        {.name = "expired goes before paused",
                .facts = {.pause_id = 7, .pause_reason = "x"},
                .expires_us = LATE_US,
                .at = GATE_EXPIRED,
                .answer = GATE_END,
                .end = DELIVERY_EXPIRED,
                .reason = "expired before it could be sent"},
        {.name = "paused goes before suppressed",
                .facts = {.pause_id = 7,
                        .pause_until_us = LATE_US + 1,
                        .pause_reason = "x",
                        .suppressed = SUPPRESSED_MANUAL},
                .at = GATE_PAUSED,
                .answer = GATE_LATER,
                .until_us = LATE_US + 1,
                .reason = "paused: x"},
        {.name = "hard bounce",
                .facts = {.suppressed = SUPPRESSED_HARD_BOUNCE},
                .at = GATE_SUPPRESSED,
                .answer = GATE_END,
                .end = DELIVERY_WITHHELD,
                .reason = "suppressed: hard bounce"},
        {.name = "unregistered",
                .facts = {.suppressed = SUPPRESSED_UNREGISTERED},
                .at = GATE_SUPPRESSED,
                .answer = GATE_END,
                .end = DELIVERY_WITHHELD,
                .reason = "suppressed: no longer registered"},
        {.name = "opt-out",
                .facts = {.suppressed = SUPPRESSED_OPT_OUT},
                .at = GATE_SUPPRESSED,
                .answer = GATE_END,
                .end = DELIVERY_WITHHELD,
                .reason = "suppressed: opted out"},
        {.name = "complaint",
                .facts = {.suppressed = SUPPRESSED_COMPLAINT},
                .at = GATE_SUPPRESSED,
                .answer = GATE_END,
                .end = DELIVERY_WITHHELD,
                .reason = "suppressed: complaint"},
        {.name = "by hand",
                .facts = {.suppressed = SUPPRESSED_MANUAL},
                .at = GATE_SUPPRESSED,
                .answer = GATE_END,
                .end = DELIVERY_WITHHELD,
                .reason = "suppressed by hand"},
        {.name = "a reason of a newer version",
                .facts = {.suppressed = (enum suppression)99},
                .at = GATE_SUPPRESSED,
                .answer = GATE_END,
                .end = DELIVERY_WITHHELD,
                .reason = "suppressed"},
        {.name = "suppressed after a try of unknown outcome",
                .facts = {.suppressed = SUPPRESSED_MANUAL},
                .earlier_unknown = 1,
                .at = GATE_SUPPRESSED,
                .answer = GATE_END,
                .end = DELIVERY_UNKNOWN,
                .reason = "suppressed by hand, after a try whose outcome is unknown"},
        {.name = "no address",
                .no_address = true,
                .at = GATE_ADDRESS,
                .answer = GATE_END,
                .end = DELIVERY_WITHHELD,
                .reason = "no address"},
        {.name = "a step asks first", .message = STEPPED, .at = GATE_STEP, .asks = true},
        {.name = "a step sent anew by hand asks nothing",
                .message = STEPPED,
                .redrive = 1,
                .at = GATE_COUNT},
        {.name = "the other channel did it",
                .message = STEPPED,
                .facts = {.known = KNOWS(GATE_STEP), .other = {.accepted = true}},
                .at = GATE_STEP,
                .answer = GATE_END,
                .end = DELIVERY_SUPERSEDED,
                .reason = "not needed: accepted by push"},
        {.name = "accepted is not delivered",
                .message = ON_DELIVERY,
                .facts = {.known = KNOWS(GATE_STEP), .other = {.accepted = true}},
                .at = GATE_COUNT},
        {.name = "the other channel delivered it",
                .message = ON_DELIVERY,
                .facts = {.known = KNOWS(GATE_STEP), .other = {.delivered = true}},
                .at = GATE_STEP,
                .answer = GATE_END,
                .end = DELIVERY_SUPERSEDED,
                .reason = "not needed: delivered by push"},
        {.name = "the other channel failed",
                .message = STEPPED,
                .facts = {.known = KNOWS(GATE_STEP)},
                .at = GATE_COUNT},
        {.name = "the other channel is on the wire",
                .message = STEPPED,
                .created_us = LATE_US - 11 * MINUTE_US,
                .facts = {.known = KNOWS(GATE_STEP), .other = {.wire = true}},
                .at = GATE_STEP,
                .answer = GATE_LATER,
                .until_us = LATE_US + GATE_STEP_WAIT_MS * 1000,
                .reason = "waits for the last word of the channel before it"},
        {.name = "the other channel is on the wire for too long",
                .message = STEPPED,
                .created_us = LATE_US - 13 * MINUTE_US,
                .facts = {.known = KNOWS(GATE_STEP), .other = {.wire = true}},
                .at = GATE_COUNT},
        {.name = "the other channel is about to try",
                .message = STEPPED,
                .created_us = LATE_US - 10 * MINUTE_US - 29 * 1000000,
                .facts = {.known = KNOWS(GATE_STEP), .other = {.due = true}},
                .at = GATE_STEP,
                .answer = GATE_LATER,
                .until_us = LATE_US + GATE_STEP_WAIT_MS * 1000,
                .reason = "waits for the last word of the channel before it"},
        {.name = "the other channel has been about to try for too long",
                .message = STEPPED,
                .created_us = LATE_US - 10 * MINUTE_US - 30 * 1000000,
                .facts = {.known = KNOWS(GATE_STEP), .other = {.due = true}},
                .at = GATE_COUNT},
        {.name = "quiet hours are asked for", .message = CALM, .at = GATE_QUIET, .asks = true},
        {.name = "no quiet hour",
                .message = CALM,
                .facts = {.known = KNOWS(GATE_QUIET)},
                .at = GATE_COUNT},
        {.name = "a quiet hour",
                .message = CALM,
                .facts = {.known = KNOWS(GATE_QUIET),
                        .quiet_until_us = LATE_US + 600 * MINUTE_US,
                        .quiet_wall = "08:00",
                        .zone = "Europe/Berlin"},
                .at = GATE_QUIET,
                .answer = GATE_LATER,
                .until_us = LATE_US + 600 * MINUTE_US,
                .reason = "quiet hours until 08:00 Europe/Berlin"},
        {.name = "a quiet hour, and it expires in it",
                .message = CALM,
                .expires_us = LATE_US + MINUTE_US,
                .facts = {.known = KNOWS(GATE_QUIET),
                        .quiet_until_us = LATE_US + 600 * MINUTE_US,
                        .quiet_wall = "08:00",
                        .zone = "UTC"},
                .at = GATE_QUIET,
                .answer = GATE_LATER,
                .until_us = LATE_US + MINUTE_US,
                .reason = "quiet hours until 08:00 UTC"},
        {.name = "as long as drop_after",
                .message = DROPPED,
                .facts = {.known = KNOWS(GATE_QUIET),
                        .quiet_until_us = LATE_US + 60 * MINUTE_US,
                        .quiet_wall = "08:00",
                        .zone = "UTC"},
                .at = GATE_QUIET,
                .answer = GATE_LATER,
                .until_us = LATE_US + 60 * MINUTE_US,
                .reason = "quiet hours until 08:00 UTC"},
        {.name = "longer than drop_after",
                .message = DROPPED,
                .facts = {.known = KNOWS(GATE_QUIET),
                        .quiet_until_us = LATE_US + 60 * MINUTE_US + 1,
                        .quiet_wall = "08:00",
                        .zone = "UTC"},
                .at = GATE_QUIET,
                .answer = GATE_END,
                .end = DELIVERY_WITHHELD,
                .reason = "quiet hours until 08:00 UTC"},
        {.name = "a quiet hour that is over by now",
                .message = CALM,
                .facts = {.known = KNOWS(GATE_QUIET), .quiet_until_us = LATE_US},
                .at = GATE_COUNT},
        {.name = "a newer message is asked for",
                .collapses = true,
                .at = GATE_SUPERSEDED,
                .asks = true},
        {.name = "a newer one is there, before it expires",
                .collapses = true,
                .expires_us = LATE_US,
                .facts = {.known = KNOWS(GATE_SUPERSEDED), .newer = {.ended = true}},
                .at = GATE_SUPERSEDED,
                .answer = GATE_END,
                .end = DELIVERY_SUPERSEDED,
                .reason = "a newer message took its place"},
        {.name = "another claim has ended it",
                .facts = {.state = DELIVERY_SUPERSEDED},
                .at = GATE_SUPERSEDED,
                .answer = GATE_END,
                .end = DELIVERY_SUPERSEDED},
        {.name = "a newer one is there after an unknown try",
                .collapses = true,
                .earlier_unknown = 1,
                .facts = {.known = KNOWS(GATE_SUPERSEDED), .newer = {.ended = true}},
                .at = GATE_SUPERSEDED,
                .answer = GATE_END,
                .end = DELIVERY_UNKNOWN,
                .reason = "a newer message took its place, after a try whose outcome is unknown"},
        {.name = "an older one is on the wire",
                .collapses = true,
                .facts = {.known = KNOWS(GATE_SUPERSEDED), .newer = {.waits = true}},
                .at = GATE_SUPERSEDED,
                .answer = GATE_LATER,
                .until_us = LATE_US + GATE_NEWER_WAIT_MS * 1000,
                .reason = "waits for an older message that is on the wire"},
        {.name = "a redrive is nobody's older one",
                .collapses = true,
                .redrive = 1,
                .at = GATE_COUNT},
        {.name = "caps are asked last", .message = CAPPED, .at = GATE_CAP, .asks = true},
        {.name = "a cap is used up",
                .message = CAPPED,
                .facts = {.known = KNOWS(GATE_CAP),
                        .cap = {.withheld_by = &held, .wait_ms = 60000}},
                .at = GATE_CAP,
                .answer = GATE_END,
                .end = DELIVERY_WITHHELD,
                .reason = "cap shipped/1/60/recipient/email"},
        {.name = "a cap lets it wait",
                .message = CAPPED,
                .facts = {.known = KNOWS(GATE_CAP),
                        .cap = {.deferred_by = &held, .wait_ms = 60000}},
                .at = GATE_CAP,
                .answer = GATE_LATER,
                .until_us = LATE_US + MINUTE_US,
                .reason = "waits for the cap shipped/1/60/recipient/email"},
};

static void check_cell(const struct cell *cell)
{
    struct delivery delivery = {.channel = CHANNEL_EMAIL,
            .created_us = cell->created_us,
            .expires_us = cell->expires_us,
            .earlier_unknown = cell->earlier_unknown,
            .redrive = cell->redrive,
            .collapse = cell->collapses ? collapse : NULL,
            .address = cell->no_address ? NULL : anywhere};
    struct gate_facts facts = cell->facts;
    facts.now_us = LATE_US;
    facts.message = cell->message == NO_MESSAGE ? NULL : messages[cell->message];
    enum gate_kind at = 0;
    bool asks = false;
    struct verdict verdict = gate_walk(&delivery, &facts, &at, &asks);
    assert_row(at == cell->at, cell->name);
    assert_row(asks == cell->asks, cell->name);
    assert_row(verdict.answer == cell->answer, cell->name);
    assert_row(verdict.answer != GATE_END || verdict.end == cell->end, cell->name);
    assert_row(verdict.answer != GATE_LATER || cell->until_us < 0 ||
                       verdict.until_us == cell->until_us,
            cell->name);
    assert_row(verdict.answer != GATE_LATER || verdict.until_us > LATE_US, cell->name);
    assert_row((verdict.hold == 7) == (cell->at == GATE_PAUSED), cell->name);
    assert_row(!cell->reason || strcmp(verdict.reason, cell->reason) == 0, cell->name);
}

static void every_gate_says_what_its_facts_say(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cells); i++)
        check_cell(&cells[i]);
}

static void every_gate_has_a_name_of_its_own(void **state)
{
    (void)state;
    for (int i = 0; i < GATE_COUNT; i++)
        for (int j = 0; j < i; j++)
            assert_string_not_equal(gate_name((enum gate_kind)i), gate_name((enum gate_kind)j));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(a_delivery_past_its_time_ends_instead_of_leaving),
            cmocka_unit_test(every_gate_says_what_its_facts_say),
            cmocka_unit_test(every_gate_has_a_name_of_its_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
