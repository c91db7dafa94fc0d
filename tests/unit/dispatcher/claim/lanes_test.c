#include "dispatcher/claim/lanes.h"
#include "tests/test.h"

#define MARK ((int64_t)100 * 1000 * 1000)

static struct lanes fresh(void)
{
    struct lanes lanes;
    lanes_init(&lanes, CHANNEL_EMAIL);
    return lanes;
}

static void each_lane_leads_now_and_then_and_high_mostly(void **state)
{
    (void)state;
    struct lanes lanes = fresh();
    int led[PRIORITY_COUNT] = {0};
    for (int i = 0; i < 160; i++) {
        struct lanes_plan plan;
        lanes_next(&lanes, i, &plan);
        led[plan.lane[0] % 10]++;
        int sum = plan.lane[0] + plan.lane[1] + plan.lane[2];
        assert_int_equal(sum, 10 + 11 + 12);
    }
    assert_int_equal(led[PRIORITY_HIGH], 120);
    assert_int_equal(led[PRIORITY_NORMAL], 30);
    assert_int_equal(led[PRIORITY_LOW], 10);
}

static int64_t from_of(const struct lanes_plan *plan, int lane)
{
    for (int i = 0; i < PRIORITY_COUNT; i++)
        if (plan->lane[i] == lane)
            return plan->from_us[i];
    return -1;
}

static void scans_start_a_margin_before_the_mark(void **state)
{
    (void)state;
    struct lanes lanes = fresh();
    struct lanes_plan plan;
    lanes_next(&lanes, 0, &plan); // the first one is whole
    assert_int_equal(from_of(&plan, 11), 0);
    lanes_claimed(&lanes, 11, MARK);
    lanes_claimed(&lanes, 11, MARK - 5);
    lanes_next(&lanes, 1, &plan); // then one for what came late
    assert_int_equal(from_of(&plan, 11), MARK - LANES_LATE_MARGIN_MS * 1000);
    lanes_next(&lanes, 1, &plan); // then a deep one
    assert_int_equal(from_of(&plan, 11), MARK - LANES_DEEP_MARGIN_MS * 1000);
    lanes_next(&lanes, 2, &plan);
    assert_int_equal(from_of(&plan, 11), MARK - LANES_MARGIN_MS * 1000);
    assert_int_equal(from_of(&plan, 10), 0);
}

static void deep_and_whole_scans_come_back(void **state)
{
    (void)state;
    struct lanes lanes = fresh();
    struct lanes_plan plan;
    lanes.mark_us[PRIORITY_NORMAL] = MARK;
    int deep = 0, late = 0, whole = 0;
    for (int64_t now_ms = 0; now_ms < 2 * LANES_WHOLE_EVERY_MS; now_ms += 50) {
        lanes_next(&lanes, now_ms, &plan);
        deep += from_of(&plan, 11) == MARK - LANES_DEEP_MARGIN_MS * 1000;
        late += from_of(&plan, 11) == MARK - LANES_LATE_MARGIN_MS * 1000;
        whole += from_of(&plan, 11) == 0;
    }
    assert_int_equal(whole, 2);
    assert_in_range(late, 46, 48);
    assert_in_range(deep, 430, 480);
}

// Two claimers: one takes by an older plan while the rows of the other come back.
static void what_came_back_is_not_hidden_by_a_claim_that_began_before(void **state)
{
    (void)state;
    struct lanes lanes = fresh();
    struct lanes_plan plan;
    lanes_next(&lanes, 0, &plan);
    lanes_claimed(&lanes, 11, MARK);
    lanes_init(&lanes, CHANNEL_EMAIL);
    lanes_claimed(&lanes, 11, MARK + 5);
    lanes_next(&lanes, 1, &plan); // finds some of them
    assert_int_equal(from_of(&plan, 11), 0);
    lanes_claimed(&lanes, 11, MARK / 2);
    lanes_next(&lanes, 2, &plan); // the others follow
    assert_int_equal(from_of(&plan, 11), MARK / 2 - LANES_LATE_MARGIN_MS * 1000);
}

// What became due before its clock was set back lies before all that comes for so long.
static void a_mark_follows_a_clock_that_was_set_back(void **state)
{
    (void)state;
    enum { HOUR_MS = 3600 * 1000 };
    const int64_t set_back = INT64_C(5) * HOUR_MS * 1000;
    struct lanes lanes = fresh();
    struct lanes_plan plan;
    lanes.mark_us[PRIORITY_NORMAL] = set_back + (int64_t)HOUR_MS * 1000;
    int missed = 0;
    for (int64_t now_ms = 0; now_ms < HOUR_MS; now_ms += 1000) {
        int64_t due_us = set_back + now_ms * 1000;
        lanes_next(&lanes, now_ms + 1, &plan);
        if (now_ms == 0) // it was whole before the clock was set
            continue;
        if (from_of(&plan, 11) <= due_us)
            lanes_claimed(&lanes, 11, due_us);
        else
            missed++;
    }
    assert_in_range(missed, 1, LANES_WHOLE_EVERY_MS / 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(each_lane_leads_now_and_then_and_high_mostly),
            cmocka_unit_test(scans_start_a_margin_before_the_mark),
            cmocka_unit_test(deep_and_whole_scans_come_back),
            cmocka_unit_test(what_came_back_is_not_hidden_by_a_claim_that_began_before),
            cmocka_unit_test(a_mark_follows_a_clock_that_was_set_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
