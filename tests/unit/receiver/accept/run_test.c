// One order over a batch: chains, waiting events, what is kept.
#include "receiver/accept/run.h"
#include "tests/test.h"

enum { S1, S2, S3, S4, N };

static struct state states[N] = {{.name = (char[]){"s1"}, .id = 11, .create = true},
        {.name = (char[]){"s2"}, .id = 12}, {.name = (char[]){"s3"}, .id = 13},
        {.name = (char[]){"s4"}, .id = 14}};
static bool may[N * N] = {[S1 * N + S2] = true, [S2 * N + S3] = true, [S3 * N + S4] = true};
static const struct flow flow = {.states = states, .n_states = N, .n_path = N, .may = may};

static struct candidate event(const char *id, int to)
{
    return (struct candidate){.source = 1,
            .to = to,
            .to_id = states[to].id,
            .id = id,
            .scope = "",
            .type = "t",
            .contact = "{}",
            .data = "{}"};
}

static struct order_run fresh_run(void)
{
    return (struct order_run){
            .bucket = 1, .id = "o", .contact = xstrdup("{}"), .data = xstrdup("{}")};
}

static enum move_outcome put(struct order_run *run, const char *id, int to, struct judgements *all)
{
    struct candidate candidate = event(id, to);
    return run_judge(run, 0, &flow, &candidate, all);
}

static void any_order_of_arrival_ends_in_the_last_state_with_each_step_once(void **unused)
{
    (void)unused;
    int orders[24][4], n = 0;
    for (int a = 0; a < 4; a++)
        for (int b = 0; b < 4; b++)
            for (int c = 0; c < 4; c++)
                if (a != b && b != c && a != c)
                    memcpy(orders[n++], (int[]){a, b, c, 6 - a - b - c}, sizeof orders[0]);
    assert_int_equal(n, 24);
    for (int i = 0; i < n; i++) {
        struct order_run run = fresh_run();
        struct judgements all = {0};
        static const char *const ids[] = {"e1", "e2", "e3", "e4"};
        for (int k = 0; k < 4; k++)
            put(&run, ids[orders[i][k]], orders[i][k], &all);
        assert_int_equal(run.state_id, 14);
        assert_int_equal(run.version, 4);
        assert_int_equal(run.open_waits, 0);
        int applied = 0;
        for (size_t j = 0; j < all.n; j++)
            applied += all.rows[j].outcome == MOVE_APPLIED;
        assert_int_equal(applied, 4);
        run_fini(&run);
        free(all.rows);
    }
}

static void a_stored_wait_is_judged_after_the_move_it_waited_for(void **unused)
{
    (void)unused;
    struct order_run run = fresh_run();
    struct judgements all = {0};
    struct candidate waiting = event("late", S2);
    run_add_stored_wait(&run, &waiting);
    assert_int_equal(put(&run, "first", S1, &all), MOVE_APPLIED);
    assert_int_equal(all.n, 2);
    assert_string_equal(all.rows[1].event.id, "late");
    assert_int_equal(all.rows[1].from_id, 11);
    assert_true(run.waits[0].judged);
    run_fini(&run);
    free(all.rows);
}

static void a_wait_that_must_wait_on_leaves_no_second_judgement(void **unused)
{
    (void)unused;
    struct order_run run = fresh_run();
    struct judgements all = {0};
    struct candidate waiting = event("far", S4);
    run_add_stored_wait(&run, &waiting);
    put(&run, "first", S1, &all);
    assert_int_equal(all.n, 1);
    assert_int_equal(run.open_waits, 1);
    run_fini(&run);
    free(all.rows);
}

static void an_event_fills_only_what_is_still_empty(void **unused)
{
    (void)unused;
    struct order_run run = fresh_run();
    struct judgements all = {0};
    struct candidate first = event("a", S1), second = event("b", S1);
    first.contact = "{\"email\":\"a@x.example\",\"phone\":null}";
    second.contact = "{\"email\":\"b@x.example\",\"phone\":\"+49\"}";
    run_judge(&run, 0, &flow, &first, &all);
    assert_int_equal(run_judge(&run, 0, &flow, &second, &all), MOVE_ALREADY_DONE);
    assert_string_equal(run.contact, "{\"email\":\"a@x.example\",\"phone\":\"+49\"}");
    run_fini(&run);
    free(all.rows);
}

static void only_applied_and_already_done_raise_the_sequence(void **unused)
{
    (void)unused;
    struct order_run run = fresh_run();
    struct judgements all = {0};
    struct candidate step = event("a", S1);
    step.has_sequence = true;
    step.sequence = 5;
    run_judge(&run, 0, &flow, &step, &all);
    assert_int_equal(run.sequences[0].last, 5);
    struct candidate early = event("b", S4);
    early.has_sequence = true;
    early.sequence = 99;
    assert_int_equal(run_judge(&run, 0, &flow, &early, &all), MOVE_EARLY);
    assert_int_equal(run.sequences[0].last, 5);
    struct candidate stale = event("c", S2);
    stale.has_sequence = true;
    stale.sequence = 5;
    assert_int_equal(run_judge(&run, 0, &flow, &stale, &all), MOVE_STALE);
    run_fini(&run);
    free(all.rows);
}

static void an_order_takes_no_more_waiting_events_than_its_limit(void **unused)
{
    (void)unused;
    struct order_run run = fresh_run();
    struct judgements all = {0};
    for (int i = 0; i < WAITING_MAX; i++)
        assert_int_equal(put(&run, "w", S3, &all), MOVE_UNKNOWN_ORDER);
    assert_int_equal(put(&run, "w", S3, &all), MOVE_CONFLICT);
    assert_int_equal(run.open_waits, WAITING_MAX);
    run_fini(&run);
    free(all.rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(any_order_of_arrival_ends_in_the_last_state_with_each_step_once),
            cmocka_unit_test(a_stored_wait_is_judged_after_the_move_it_waited_for),
            cmocka_unit_test(a_wait_that_must_wait_on_leaves_no_second_judgement),
            cmocka_unit_test(an_event_fills_only_what_is_still_empty),
            cmocka_unit_test(only_applied_and_already_done_raise_the_sequence),
            cmocka_unit_test(an_order_takes_no_more_waiting_events_than_its_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
