// Every cell of (state x event x sequence) of the example's flow, and the flows that are odd.
#include "receiver/accept/judge.h"
#include "tests/test.h"

enum { PLACED, PAID, PACKED, SHIPPED, OUT, DELIVERED, CANCELLED, REFUNDED, N_STATES };

static struct state states[N_STATES] = {{.name = (char[]){"placed"}, .create = true},
        {.name = (char[]){"paid"}, .create = true}, {.name = (char[]){"packed"}},
        {.name = (char[]){"shipped"}}, {.name = (char[]){"out_for_delivery"}},
        {.name = (char[]){"delivered"}}, {.name = (char[]){"cancelled"}},
        {.name = (char[]){"refunded"}}};
static bool may[N_STATES * N_STATES];
static struct flow flow = {.states = states, .n_states = N_STATES, .n_path = 6, .may = may};

static void allow(int from, int to)
{
    may[from * N_STATES + to] = true;
}

static int set_up(void **state)
{
    (void)state;
    for (int i = PLACED; i < DELIVERED; i++)
        allow(i, i + 1);
    allow(PACKED, OUT);
    allow(SHIPPED, DELIVERED);
    allow(PLACED, CANCELLED);
    allow(PAID, CANCELLED);
    for (int i = PAID; i <= DELIVERED; i++)
        allow(i, REFUNDED);
    return 0;
}

// Columns: placed paid packed shipped out delivered cancelled refunded. A applied, D already done,
// C conflict, E early, U unknown order. Written by hand from the flow's words, not from the code.
static const struct {
    const char *name;
    int state;
    const char *want;
} cells[] = {
        {"placeholder", STATE_NONE, "AAUUUUUU"},
        {"placed", PLACED, "DAEEEEAE"},
        {"paid", PAID, "DDAEEEAA"},
        {"packed", PACKED, "DDDAAECA"},
        {"shipped", SHIPPED, "DDDDAACA"},
        {"out_for_delivery", OUT, "DDDDDACA"},
        {"delivered", DELIVERED, "DDDDDDCA"},
        {"cancelled", CANCELLED, "CCCCCCDC"},
        {"refunded", REFUNDED, "CCCCCCCD"},
        {"a state of an older policy", STATE_FOREIGN, "CCCCCCCC"},
};

static const struct {
    const char *name;
    bool has_last, has_sequence;
    int64_t last, sequence;
    bool stale;
} sequences[] = {
        {"no sequence at all", false, false, 0, 0, false},
        {"first of its source", false, true, 0, 1, false},
        {"above the last", true, true, 5, 6, false},
        {"equal to the last", true, true, 5, 5, true},
        {"below the last", true, true, 5, 4, true},
        {"far below the last", true, true, INT64_MAX, INT64_MIN, true},
        {"without one though the source had one", true, false, 5, 0, false},
};

static char letter(enum move_outcome outcome)
{
    return "?ADSECU"[outcome];
}

static char wanted(char cell, int state, bool stale)
{
    if (!stale || state == STATE_NONE || cell == 'D')
        return cell; // already_done goes before stale; a placeholder has no last sequence
    return 'S';
}

static void every_cell_of_state_event_and_sequence(void **unused)
{
    (void)unused;
    int tried = 0;
    for (size_t c = 0; c < ARRAY_LEN(cells); c++) {
        for (int to = 0; to < N_STATES; to++) {
            for (size_t s = 0; s < ARRAY_LEN(sequences); s++) {
                struct standing order = {.state = cells[c].state,
                        .has_last = sequences[s].has_last,
                        .last_sequence = sequences[s].last};
                struct claimed_step step = {to, sequences[s].has_sequence, sequences[s].sequence};
                char want = wanted(cells[c].want[to], cells[c].state, sequences[s].stale);
                char got = letter(judge(&flow, &order, &step));
                if (got != want)
                    fail_msg("%s, event %s, %s: got %c, want %c", cells[c].name, states[to].name,
                            sequences[s].name, got, want);
                tried++;
            }
        }
    }
    assert_int_equal(tried, 10 * 8 * 7);
}

static void a_step_that_was_done_is_already_done_even_after_leaving_the_path(void **unused)
{
    (void)unused;
    struct standing order = {.state = REFUNDED, .done = 1 << PAID | 1 << SHIPPED};
    assert_int_equal(judge(&flow, &order, &(struct claimed_step){.to = PAID}), MOVE_ALREADY_DONE);
    assert_int_equal(
            judge(&flow, &order, &(struct claimed_step){.to = SHIPPED}), MOVE_ALREADY_DONE);
    assert_int_equal(judge(&flow, &order, &(struct claimed_step){.to = DELIVERED}), MOVE_CONFLICT);
}

static void a_skipped_step_that_comes_late_is_already_done(void **unused)
{
    (void)unused;
    struct standing order = {.state = OUT, .done = 1 << PACKED}; // shipped was skipped
    assert_int_equal(
            judge(&flow, &order, &(struct claimed_step){.to = SHIPPED}), MOVE_ALREADY_DONE);
}

static void already_done_goes_before_stale(void **unused)
{
    (void)unused;
    struct standing order = {.state = SHIPPED, .has_last = true, .last_sequence = 9};
    assert_int_equal(
            judge(&flow, &order, &(struct claimed_step){PAID, true, 3}), MOVE_ALREADY_DONE);
    assert_int_equal(judge(&flow, &order, &(struct claimed_step){DELIVERED, true, 3}), MOVE_STALE);
}

static void no_step_ever_moves_an_order_back_on_its_path(void **unused)
{
    (void)unused;
    for (int state = 0; state < (int)flow.n_path; state++)
        for (int to = 0; to <= state; to++) {
            struct standing order = {.state = state};
            assert_int_not_equal(
                    judge(&flow, &order, &(struct claimed_step){.to = to}), MOVE_APPLIED);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(every_cell_of_state_event_and_sequence),
            cmocka_unit_test(a_step_that_was_done_is_already_done_even_after_leaving_the_path),
            cmocka_unit_test(a_skipped_step_that_comes_late_is_already_done),
            cmocka_unit_test(already_done_goes_before_stale),
            cmocka_unit_test(no_step_ever_moves_an_order_back_on_its_path),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
