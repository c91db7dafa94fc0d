// Which provider the next try goes to.
#include "dispatcher/route/choose.h"
#include "tests/test.h"

#define HOUR (INT64_C(3600) * 1000000)

// A provider in one letter: r ready, f full, o open, x not for this target; upper case: it
// recognises a repeated key for a day.
static void candidates_of(const char *text, struct candidate out[CHOOSE_MAX])
{
    for (size_t i = 0; text[i]; i++) {
        char c = text[i];
        bool key = c >= 'A' && c <= 'Z';
        c = key ? (char)(c - 'A' + 'a') : c;
        out[i] = (struct candidate){.suits = c != 'x',
                .open_ms = c == 'o' ? 100 * ((int64_t)i + 1) : 0,
                .room = c != 'f',
                .key_window_us = key ? 24 * HOUR : 0};
    }
}

static const struct row {
    const char *name, *providers;
    struct history history;
    int at;
    int64_t wait_ms;
    bool open;
} rows[] = {
        {"the first one", "rr", {.last = -1}, 0, 0, false},
        {"the next while the first is open", "or", {.last = -1}, 1, 0, false},
        {"the one after while both are open", "oor", {.last = -1}, 2, 0, false},
        {"none while all are open: the first of them to be asked", "oo", {.last = -1}, -1, 100,
                true},
        {"a full one leads to no other", "fr", {.last = -1}, -1, 0, false},
        {"a full one behind an open one", "of", {.last = -1}, -1, 0, false},
        {"one that is for other targets is passed over", "xr", {.last = -1}, 1, 0, false},
        {"nobody is for it", "xx", {.last = -1}, -1, INT64_MAX, true},
        {"no provider at all", "", {.last = -1}, -1, INT64_MAX, true},

        {"a retry begins at the first", "rr", {.last = 1}, 0, 0, false},
        {"what the provider itself refused goes to the next", "rr", {.last = 0, .passed_on = true},
                1, 0, false},
        {"and from the last one to the first again", "rr", {.last = 1, .passed_on = true}, 0, 0,
                false},
        {"past one that is open", "ror", {.last = 0, .passed_on = true}, 2, 0, false},
        {"back to the same when the others are open", "ro", {.last = 0, .passed_on = true}, 0, 0,
                false},
        {"the only one is asked again", "r", {.last = 0, .passed_on = true}, 0, 0, false},

        {"after an unknown try the provider stays", "rr", {.last = 1, .unknown = true}, 1, 0,
                false},
        {"another one only while it is open: it knows no key", "ro", {.last = 1, .unknown = true},
                0, 0, false},
        {"with a key it stays though it is open", "rO", {.last = 1, .unknown = true}, -1, 200,
                true},
        {"with a key it stays though it is full", "rF", {.last = 1, .unknown = true}, -1, 0, false},
        {"with a key it stays though it refused a later try", "Rr",
                {.last = 0, .unknown = true, .passed_on = true}, 0, 0, false},
        {"until the key's window is over", "rO",
                {.last = 1, .unknown = true, .in_doubt_us = 24 * HOUR}, 0, 0, false},
        {"just before that it stays", "rO",
                {.last = 1, .unknown = true, .in_doubt_us = 24 * HOUR - 1}, -1, 200, true},
        {"without an unknown try a key keeps nothing", "rO", {.last = 1}, 0, 0, false},
        {"a provider that is gone keeps nothing", "rR", {.last = -1, .unknown = true}, 0, 0, false},
};

static void the_next_try_goes_where_the_table_says(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct row *row = &rows[i];
        struct candidate candidates[CHOOSE_MAX] = {0};
        candidates_of(row->providers, candidates);
        struct choice got = choose(candidates, strlen(row->providers), &row->history);
        assert_row(got.at == row->at, row->name);
        assert_row(got.at >= 0 || (got.wait_ms == row->wait_ms && got.stays_open == row->open),
                row->name);
    }
}

static const struct other {
    const char *name, *providers;
    struct history history;
    bool want;
} others[] = {
        {"one further down", "rr", {.last = 0}, true},
        {"one that is full takes it later, but not another", "rf", {.last = 0}, true},
        {"never back to the front: that waits", "rr", {.last = 1}, false},
        {"not one that is open", "ro", {.last = 0}, false},
        {"past one that is open", "ror", {.last = 0}, true},
        {"not one for other targets", "rx", {.last = 0}, false},
        {"not while the key keeps it", "Rr", {.last = 0, .unknown = true}, false},
        {"the key's window is over", "Rr", {.last = 0, .unknown = true, .in_doubt_us = 24 * HOUR},
                true},
        {"the provider is gone", "rr", {.last = -1}, false},
};

static void another_one_is_further_down_the_list(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(others); i++) {
        struct candidate candidates[CHOOSE_MAX] = {0};
        candidates_of(others[i].providers, candidates);
        bool got = choose_other(candidates, strlen(others[i].providers), &others[i].history);
        assert_row(got == others[i].want, others[i].name);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(the_next_try_goes_where_the_table_says),
            cmocka_unit_test(another_one_is_further_down_the_list),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
