// Who has to go when others wait: the longest idle, then who is longest at a body.
#include "tests/test.h"

#include "common/http/room.h"

enum { GUESTS = 1000 };

struct hall {
    struct room room;
    struct guest guests[GUESTS];
    h2o_req_t *reqs; // what h2o knows of each
    int asked;       // how often it was asked
};

static void learn(void *context)
{
    struct hall *hall = context;
    hall->asked++;
    for (size_t i = 0; i < GUESTS; i++)
        hall->guests[i].req = &hall->reqs[i];
}

// All of them came at their own number in milliseconds.
static int enter(void **state)
{
    struct hall *hall = xcalloc(1, sizeof *hall);
    hall->reqs = xcalloc(GUESTS, sizeof *hall->reqs);
    for (size_t i = 0; i < GUESTS; i++)
        room_rest(&hall->room, &hall->guests[i], (int64_t)i);
    *state = hall;
    return 0;
}

static int leave(void **state)
{
    struct hall *hall = *state;
    free(hall->reqs);
    free(hall);
    return 0;
}

static void begins_body(struct hall *hall, size_t i)
{
    hall->reqs[i].version = 0x101;
}

// Number of the one that has to go, which then goes; -1 = none.
static int gone(struct hall *hall, int64_t now_ms)
{
    const h2o_req_t *req = room_oldest(&hall->room, now_ms, learn, hall);
    if (!req)
        return -1;
    size_t i = (size_t)(req - hall->reqs);
    room_leave(&hall->room, &hall->guests[i]);
    return (int)i;
}

static void the_longest_idle_goes_first_and_none_too_early(void **state)
{
    struct hall *hall = *state;
    assert_int_equal(gone(hall, ROOM_IDLE_MIN_MS - 1), -1);
    assert_int_equal(gone(hall, ROOM_IDLE_MIN_MS), 0);
    assert_int_equal(gone(hall, ROOM_IDLE_MIN_MS), -1);
    room_leave(&hall->room, &hall->guests[1]); // a request is complete
    room_rest(&hall->room, &hall->guests[1], 5000);
    for (int i = 2; i < GUESTS; i++)
        assert_int_equal(gone(hall, 5000), i);
    assert_int_equal(gone(hall, 5000), -1);
    assert_int_equal(gone(hall, 5000 + ROOM_IDLE_MIN_MS), 1);
    assert_int_equal(gone(hall, 1000 * 1000), -1);
}

static void who_is_at_a_body_goes_after_the_idle_and_has_its_time(void **state)
{
    struct hall *hall = *state;
    for (size_t i = 0; i < 10; i++)
        begins_body(hall, i);
    assert_int_equal(gone(hall, 2000), 10);
    for (int i = 11; i < GUESTS; i++)
        assert_int_equal(gone(hall, 2000), i);
    assert_int_equal(gone(hall, 2000 + ROOM_BODY_MIN_MS - 1), -1);
    for (int i = 0; i < 10; i++)
        assert_int_equal(gone(hall, 2000 + ROOM_BODY_MIN_MS), i);
}

static void who_is_being_answered_stays(void **state)
{
    struct hall *hall = *state;
    static h2o_timestamp_string_t now;
    for (size_t i = 0; i < GUESTS; i++) { // by h2o itself: the handler was never asked
        begins_body(hall, i);
        hall->reqs[i].processed_at.str = &now;
    }
    assert_int_equal(gone(hall, 2000), -1);
    assert_int_equal(gone(hall, 2000 + 2 * ROOM_BODY_MIN_MS), -1);
    hall->reqs[7] = (h2o_req_t){.version = 0};
    assert_int_equal(gone(hall, 9000), 7);
}

static void a_thousand_looks_ask_for_the_requests_once(void **state)
{
    struct hall *hall = *state;
    for (int i = 0; i < GUESTS; i++)
        assert_int_equal(gone(hall, 5000), i);
    assert_int_equal(hall->asked, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test_setup_teardown(
                    the_longest_idle_goes_first_and_none_too_early, enter, leave),
            cmocka_unit_test_setup_teardown(
                    who_is_at_a_body_goes_after_the_idle_and_has_its_time, enter, leave),
            cmocka_unit_test_setup_teardown(who_is_being_answered_stays, enter, leave),
            cmocka_unit_test_setup_teardown(
                    a_thousand_looks_ask_for_the_requests_once, enter, leave)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
