#include "dispatcher/retention/decide.h"
#include "tests/test.h"

#define H ((int64_t)3600)
#define D (24 * H)

static void takes_the_step_of_its_phase(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        struct generation generation;
        int64_t keep_s;
        enum key_step want;
    } rows[] = {
            {"a young generation rests", {5, false, 44 * D, true}, 45 * D, KEY_REST},
            {"a generation lasts as long as the window", {5, false, 45 * D, true}, 45 * D,
                    KEY_FLIP},
            {"not a second less", {5, false, 45 * D - 1, true}, 45 * D, KEY_REST},
            {"a longer window holds the flip up", {5, false, 45 * D, true}, 60 * D, KEY_REST},
            {"the spare slot is emptied as soon as it is spare", {5, false, 0, false}, 45 * D,
                    KEY_EMPTY},
            {"and before the flip", {5, false, 50 * D, false}, 45 * D, KEY_EMPTY},
            {"an overlap lasts ten minutes at least", {5, true, 599, true}, 45 * D, KEY_REST},
            {"then it ends", {5, true, 600, true}, 45 * D, KEY_SETTLE},
            {"of a short window a part", {5, true, 56, true}, H, KEY_SETTLE},
            {"but a part", {5, true, 55, true}, H, KEY_REST},
            {"nothing is emptied in an overlap", {5, true, 10, false}, 45 * D, KEY_REST},
            {"nor does one begin in another", {5, true, 90 * D, false}, 45 * D, KEY_SETTLE},
            {"the first generation is as any other", {1, false, 45 * D, true}, 45 * D, KEY_FLIP},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (key_step(&rows[i].generation, rows[i].keep_s) != rows[i].want)
            fail_msg("%s", rows[i].name);
}

static int slot_of(int64_t gen)
{
    return (int)(gen % KEY_SLOTS);
}

static void the_spare_slot_is_never_one_that_is_used(void **state)
{
    (void)state;
    for (int64_t g = 4; g < 40; g++) {
        // Normal phase of g, transactions left over from its overlap, and the overlap of g+1.
        assert_int_not_equal(key_spare_slot(g), slot_of(g));
        assert_int_not_equal(key_spare_slot(g), slot_of(g - 1));
        assert_int_not_equal(key_spare_slot(g), slot_of(g - 2));
        assert_int_equal(key_spare_slot(g), slot_of(g - 3));
        assert_int_equal(key_spare_slot(g), slot_of(g + 1));
    }
}

static const struct ring bodies = {"bodies", 2 * D};
static const struct ring moves = {"moves", 8 * D};

static void empties_a_slot_when_all_in_it_is_too_old(void **state)
{
    (void)state;
    // Turn 100 of the ring of bodies: slot 4, from day 200 on.
    static const struct {
        const char *name;
        const struct ring *ring;
        int slot;
        int64_t now_s, keep_s;
        bool want;
    } rows[] = {
            {"never the slot in use", &bodies, 4, 200 * D, 0, false},
            {"never the slot in use, at its end", &bodies, 4, 202 * D - 1, 0, false},
            {"the one before after `keep`", &bodies, 4, 202 * D + H + 60, H, true},
            {"a minute later than it could", &bodies, 4, 202 * D + H + 59, H, false},
            {"the last row of the turn is kept for as long as the first", &bodies, 4,
                    202 * D + 14 * D, 14 * D, false},
            {"after 14 days", &bodies, 4, 202 * D + 14 * D + 60, 14 * D, true},
            {"the longest keep leaves a slot two days", &bodies, 4, 202 * D + 28 * D + 60, 28 * D,
                    true},
            {"until an hour before its next turn", &bodies, 4, 232 * D - H - 1, 28 * D, true},
            {"but not then", &bodies, 4, 232 * D - H, 28 * D, false},
            {"nor in its next turn", &bodies, 4, 232 * D, 28 * D, false},
            {"and again after that", &bodies, 4, 234 * D + 28 * D + 60, 28 * D, true},
            {"60 days of moves", &moves, 9, 208 * D + 60 * D + 60, 60 * D, true},
            {"not 59", &moves, 9, 208 * D + 59 * D, 60 * D, false},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (slot_may_be_emptied(rows[i].ring, rows[i].slot, rows[i].now_s, rows[i].keep_s) !=
                rows[i].want)
            fail_msg("%s", rows[i].name);
}

static void every_slot_has_its_hours_whatever_is_kept(void **state)
{
    (void)state;
    static const struct {
        const struct ring *ring;
        int64_t keep_s;
    } rows[] = {{&bodies, H}, {&bodies, 28 * D}, {&moves, H}, {&moves, 60 * D}};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        int hours[RING_SLOTS] = {0};
        const int64_t round_s = RING_SLOTS * rows[i].ring->slot_s;
        for (int64_t t = 7 * round_s; t < 8 * round_s; t += H)
            for (int slot = 0; slot < RING_SLOTS; slot++)
                hours[slot] += slot_may_be_emptied(rows[i].ring, slot, t, rows[i].keep_s);
        for (int slot = 0; slot < RING_SLOTS; slot++)
            assert_true(hours[slot] >= 40);
    }
}

static void tells_how_long_a_slot_has_been_over(void **state)
{
    (void)state;
    assert_int_equal(slot_over_for_s(&bodies, 4, 202 * D + 5), 5);
    assert_int_equal(slot_over_for_s(&bodies, 4, 202 * D - 5), -5);
    assert_int_equal(slot_over_for_s(&bodies, 3, 202 * D), 2 * D);
    assert_int_equal(slot_over_for_s(&bodies, 6, 202 * D), 28 * D); // the next one
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(takes_the_step_of_its_phase),
            cmocka_unit_test(the_spare_slot_is_never_one_that_is_used),
            cmocka_unit_test(empties_a_slot_when_all_in_it_is_too_old),
            cmocka_unit_test(every_slot_has_its_hours_whatever_is_kept),
            cmocka_unit_test(tells_how_long_a_slot_has_been_over),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
