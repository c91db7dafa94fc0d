#include "tests/test.h"

#include "cli/migrate/plan.h"

static const struct migration files[] = {
        {1, "core", "aaaa", ""},
        {2, "more", "bbbb", ""},
};

#define ROW(number, name, sha256)                                                                  \
    {                                                                                              \
        number, SLICE(name), SLICE(sha256)                                                         \
    }

static void the_ledger_is_a_prefix_of_the_files(void **state)
{
    (void)state;
    const struct {
        const char *name;
        struct ledger_row rows[3];
        size_t n;
        int want;
        size_t want_newer;
        const char *why;
    } rows[] = {
            {"empty database", {{0}}, 0, 0, 0, NULL},
            {"one applied", {ROW(1, "core", "aaaa")}, 1, 1, 0, NULL},
            {"all applied", {ROW(1, "core", "aaaa"), ROW(2, "more", "bbbb")}, 2, 2, 0, NULL},
            {"newer version", {ROW(1, "core", "aaaa"), ROW(2, "more", "bbbb"), ROW(3, "x", "c")}, 3,
                    2, 1, NULL},
            {"changed file", {ROW(1, "core", "aaab")}, 1, -1, 0, "0001_core was changed"},
            {"other name", {ROW(1, "kore", "aaaa")}, 1, -1, 0, "is 'kore' in the database"},
            {"left out", {ROW(2, "more", "bbbb")}, 1, -1, 0, "0001_core was never applied"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct err err = {0};
        size_t newer = 0;
        int got = plan_applied(files, ARRAY_LEN(files), rows[i].rows, rows[i].n, &newer, &err);
        assert_row(got == rows[i].want && newer == rows[i].want_newer, rows[i].name);
        assert_row(!rows[i].why || strstr(err.msg, rows[i].why), rows[i].name);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(the_ledger_is_a_prefix_of_the_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
