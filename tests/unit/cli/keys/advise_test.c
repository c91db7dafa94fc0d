#include "cli/keys/advise.h"
#include "tests/test.h"

#define NOW INT64_C(1795961472)
#define HOUR 3600

// Uses in hours before now, 0 = never; the first secret is the one that is judged.
static void says_when_a_secret_can_go(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        int64_t from, until; // of the first
        int first[2], last[2];
        bool safe;
        const char *state, *says;
    } rows[] = {
            {"in use", 0, 0, {50, 50}, {1, 1}, false, "live", "used 60.0 min ago"},
            {"the other took over", 0, 0, {90, 50}, {26, 1}, true, "live",
                    "unused for 26.0 h, safe to drop"},
            {"the other took over just now", 0, 0, {90, 23}, {26, 1}, false, "live",
                    "used 26.0 h ago"},
            {"nothing comes at all", 0, 0, {90, 90}, {26, 26}, false, "live", "used 26.0 h ago"},
            {"only the other, for long", 0, 0, {0, 50}, {0, 1}, true, "live",
                    "never used, safe to drop"},
            {"neither yet", 0, 0, {0, 0}, {0, 0}, false, "live", "not used yet"},
            {"one hour short", 0, 0, {90, 50}, {23, 1}, false, "live", "used 23.0 h ago"},
            {"over", 0, NOW, {90, 50}, {1, 1}, true, "ended", "over, safe to drop"},
            {"not begun", NOW + 1, 0, {0, 50}, {0, 1}, false, "not yet", "waits for its day"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct secret secrets[2] = {{.from = rows[i].from, .until = rows[i].until}, {.until = 0}};
        struct source source = {.secrets = secrets, .n_secrets = 2};
        struct secret_use uses[2];
        for (size_t j = 0; j < 2; j++)
            uses[j] = (struct secret_use){
                    rows[i].first[j] ? NOW - rows[i].first[j] * (int64_t)HOUR : 0,
                    rows[i].last[j] ? NOW - rows[i].last[j] * (int64_t)HOUR : 0};
        struct secret_advice advice = secret_advise(&source, uses, 0, NOW);
        assert_row(advice.safe_to_drop == rows[i].safe, rows[i].name);
        assert_row(strcmp(advice.state, rows[i].state) == 0, rows[i].name);
        assert_row(strcmp(advice.says, rows[i].says) == 0, rows[i].name);
    }
}

static void another_that_ended_is_no_other(void **state)
{
    (void)state;
    struct secret secrets[2] = {{.until = 0}, {.until = NOW - 1}};
    struct source source = {.secrets = secrets, .n_secrets = 2};
    struct secret_use uses[2] = {{0, 0}, {NOW - 50 * HOUR, NOW - HOUR}};
    assert_false(secret_advise(&source, uses, 0, NOW).safe_to_drop);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(says_when_a_secret_can_go),
            cmocka_unit_test(another_that_ended_is_no_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
