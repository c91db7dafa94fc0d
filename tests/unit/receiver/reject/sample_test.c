#include "receiver/reject/sample.h"
#include "tests/test.h"

#define SECOND ((int64_t)1000000)
#define MINUTE (60 * SECOND)
#define DAY (86400 * SECOND)
#define START (20000 * DAY)

static const struct sample_limits small = {.each_minute = 3,
        .source_bytes = 1000,
        .bytes = 1500,
        .source_a_day = 1000,
        .a_day = 3000,
        .kinds = 3};

static void keeps_the_first_of_a_source_and_minute(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        int source;
        int64_t at;
        enum sample want;
    } cases[] = {{"first", 1, 0, SAMPLE_KEEP}, {"second", 1, 1, SAMPLE_KEEP},
            {"third", 1, 59 * SECOND, SAMPLE_KEEP}, {"fourth", 1, 59 * SECOND, SAMPLE_MANY},
            {"another source", 2, 59 * SECOND, SAMPLE_KEEP},
            {"one whose number has the same chain", 65, 59 * SECOND, SAMPLE_KEEP},
            {"still the minute", 1, MINUTE - 1, SAMPLE_MANY},
            {"the next minute", 1, MINUTE, SAMPLE_KEEP}};
    struct sampler *sampler = sampler_new(&small);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        if (sampler_take(sampler, cases[i].source, 1, START + cases[i].at) != cases[i].want)
            fail_msg("%s", cases[i].name);
    sampler_free(sampler);
}

static void keeps_no_more_bytes_than_there_is_room_for(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        int source;
        size_t bytes;
        int64_t at;
        enum sample want;
    } cases[] = {{"all the room of a source", 1, 1000, 0, SAMPLE_KEEP},
            {"nothing is left", 1, 1, 0, SAMPLE_FULL},
            {"another has its own", 2, 400, 0, SAMPLE_KEEP},
            {"but not more than all have", 3, 200, 0, SAMPLE_FULL},
            {"what was refused takes none", 3, 100, 0, SAMPLE_KEEP},
            {"half a day gives half of it back", 1, 499, DAY / 2, SAMPLE_KEEP},
            {"and no more", 1, 10, DAY / 2, SAMPLE_FULL},
            {"a year gives no more than all of it", 1, 1001, 365 * DAY, SAMPLE_FULL},
            {"and that much", 1, 1000, 365 * DAY, SAMPLE_KEEP},
            {"a clock that goes back gives none", 1, 1, 364 * DAY, SAMPLE_FULL},
            {"nor when it comes again", 1, 1, 365 * DAY, SAMPLE_FULL}};
    struct sampler *sampler = sampler_new(&small);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        if (sampler_take(sampler, cases[i].source, cases[i].bytes, START + cases[i].at) !=
                cases[i].want)
            fail_msg("%s", cases[i].name);
    sampler_free(sampler);
}

static struct tally one(int source, const char *reason, int64_t at)
{
    return (struct tally){source, reason, 1, at, at};
}

static void counts_each_kind_and_folds_what_are_too_many(void **state)
{
    (void)state;
    struct sampler *sampler = sampler_new(&small);
    const struct tally all[] = {one(1, "a", 10), one(1, "b", 20), one(1, "a", 5), one(2, "a", 30),
            one(3, "a", 40), one(4, "c", 35), one(1, "a", 50)};
    static const struct tally want[] = {{1, "a", 3, 5, 50}, {1, "b", 1, 20, 20},
            {2, "a", 1, 30, 30}, {0, "several", 2, 35, 40}};
    int64_t sum = 0;
    size_t n = 0;
    for (size_t i = 0; i < ARRAY_LEN(all); i++)
        sampler_count(sampler, &all[i]);
    for (struct tally got; sampler_tally(sampler, INT64_MAX, &got); n++) {
        sum += got.n;
        bool known = false;
        for (size_t i = 0; i < ARRAY_LEN(want); i++)
            known |= got.source == want[i].source && strcmp(got.reason, want[i].reason) == 0 &&
                     got.n == want[i].n && got.first_us == want[i].first_us &&
                     got.last_us == want[i].last_us;
        assert_true(known);
    }
    assert_int_equal(n, ARRAY_LEN(want));
    assert_int_equal(sum, ARRAY_LEN(all));
    sampler_free(sampler);
}

static void gives_out_only_what_began_before(void **state)
{
    (void)state;
    struct sampler *sampler = sampler_new(&small);
    const struct tally old = one(1, "a", 10), young = one(1, "b", 20);
    struct tally got;
    sampler_count(sampler, &young);
    sampler_count(sampler, &old);
    assert_true(sampler_tally(sampler, 20, &got));
    assert_string_equal(got.reason, "a");
    assert_false(sampler_tally(sampler, 20, &got));
    // What could not be written is counted again, with its own time.
    sampler_count(sampler, &old);
    assert_true(sampler_tally(sampler, 20, &got));
    assert_int_equal(got.first_us, 10);
    sampler_free(sampler);
}

static void a_week_of_a_flood_stays_below_a_gigabyte(void **state)
{
    (void)state;
    struct sampler *sampler = sampler_new(&sample_limits_default);
    size_t kept = 0, rows = 0;
    for (int64_t at = 0; at < 7 * DAY; at += MINUTE) {
        for (int source = 1; source <= 20; source++) {
            // What comes behind one that is refused is refused too, to the end of the minute.
            for (int i = 0; i < 25; i++, rows++, kept += 66000) {
                if (sampler_take(sampler, source, 66000, START + at) != SAMPLE_KEEP)
                    break;
            }
        }
    }
    assert_in_range(kept, (size_t)7 * 90 << 20, (size_t)1 << 30);
    assert_in_range(rows, 1, 100000);
    sampler_free(sampler);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(keeps_the_first_of_a_source_and_minute),
            cmocka_unit_test(keeps_no_more_bytes_than_there_is_room_for),
            cmocka_unit_test(counts_each_kind_and_folds_what_are_too_many),
            cmocka_unit_test(gives_out_only_what_began_before),
            cmocka_unit_test(a_week_of_a_flood_stays_below_a_gigabyte),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
