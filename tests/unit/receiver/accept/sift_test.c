// Which events of a request are refused, by a database that says so of some of them.
#include "receiver/accept/sift.h"
#include "tests/test.h"

#include <stdio.h>

enum { EVENTS_MAX = 1000 };

static struct database {
    struct arrival *arrival;
    const size_t *bad; // places, ends with SIZE_MAX
    bool only_together;
    int tries, fails_at;
    enum txn_end fails_as;
} database;

static enum txn_end take(void *user)
{
    const struct database *db = user;
    size_t n = 0;
    database.tries++;
    if (db->fails_at == db->tries)
        return db->fails_as;
    for (size_t i = 0; db->bad[i] != SIZE_MAX; i++)
        n += db->arrival->marks[db->bad[i]] == EVENT_TAKEN;
    return n > (db->only_together ? 1 : 0) ? TXN_BAD_DATA : TXN_DONE;
}

static struct arrival *with_events(size_t n)
{
    struct arrival *arrival = arrival_new(SLICE("source"), SLICE("body"), SLICE(""), SLICE(""));
    arrival->events = n ? xcalloc(n, sizeof *arrival->events) : NULL;
    arrival->n_events = n;
    return arrival;
}

static const size_t none[] = {SIZE_MAX}, first[] = {0, SIZE_MAX}, last[] = {999, SIZE_MAX},
                    some[] = {3, 250, 251, 700, SIZE_MAX};

static const struct sift_case {
    const char *name;
    size_t n;
    const size_t *bad;
    bool only_together;
    int fails_at;
    enum txn_end fails_as, want;
    size_t want_refused;
    int tries_max;
} cases[] = {
        {"one alone", 1, first, .want = TXN_DONE, .want_refused = 1, .tries_max = 1},
        {"the first of two", 2, first, .want = TXN_DONE, .want_refused = 1, .tries_max = 3},
        {"the last of a thousand", 1000, last, .want = TXN_DONE, .want_refused = 1,
                .tries_max = 21},
        {"four of a thousand", 1000, some, .want = TXN_DONE, .want_refused = 4, .tries_max = 80},
        {"none any more", 1000, none, .want = TXN_DONE, .want_refused = 0, .tries_max = 1},
        {"a request without events", 0, none, .want = TXN_BAD_DATA, .tries_max = 0},
        {"two that are refused only together", 2, (const size_t[]){0, 1, SIZE_MAX},
                .only_together = true, .want = TXN_BAD_DATA, .tries_max = 3},
        {"the database goes away", 1000, last, .fails_at = 3, .fails_as = TXN_FAILED,
                .want = TXN_FAILED, .tries_max = 3},
        {"a deadlock", 1000, last, .fails_at = 1, .fails_as = TXN_AGAIN, .want = TXN_AGAIN,
                .tries_max = 1},
};

static void just_the_refused_ones_are_marked(void **state)
{
    (void)state;
    for (size_t c = 0; c < ARRAY_LEN(cases); c++) {
        const struct sift_case *cell = &cases[c];
        struct arrival *arrival = with_events(cell->n);
        database = (struct database){.arrival = arrival,
                .bad = cell->bad,
                .only_together = cell->only_together,
                .fails_at = cell->fails_at,
                .fails_as = cell->fails_as};
        print_message("%s\n", cell->name);
        assert_int_equal(sift(arrival, take, &database), cell->want);
        assert_true(database.tries <= cell->tries_max);
        assert_int_equal(arrival->n_marks, cell->want_refused ? cell->n : 0);
        size_t refused = 0;
        for (size_t i = 0; i < arrival->n_marks; i++)
            refused += arrival->marks[i] == EVENT_REFUSED;
        assert_int_equal(refused, cell->want_refused);
        for (size_t i = 0; refused && cell->bad[i] != SIZE_MAX; i++)
            assert_int_equal(arrival->marks[cell->bad[i]], EVENT_REFUSED);
        arrival_free(arrival);
    }
}

static void a_request_of_bad_events_ends_within_the_bound(void **state)
{
    (void)state;
    static size_t all[EVENTS_MAX + 1];
    for (size_t i = 0; i < EVENTS_MAX; i++)
        all[i] = i;
    all[EVENTS_MAX] = SIZE_MAX;
    struct arrival *arrival = with_events(EVENTS_MAX);
    database = (struct database){.arrival = arrival, .bad = all};
    assert_int_equal(sift(arrival, take, &database), TXN_DONE);
    assert_true(database.tries <= SIFT_TRIES_MAX);
    for (size_t i = 0; i < EVENTS_MAX; i++)
        assert_int_equal(arrival->marks[i], EVENT_REFUSED);
    assert_true(sift_strip(arrival));
    assert_false(sift_strip(arrival));
    assert_int_equal(arrival->marks[EVENTS_MAX - 1], EVENT_STRIPPED);
    arrival_free(arrival);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(just_the_refused_ones_are_marked),
            cmocka_unit_test(a_request_of_bad_events_ends_within_the_bound)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
