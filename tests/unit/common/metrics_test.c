#include "common/metrics.h"
#include "tests/test.h"

#include <pthread.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static char *exposition(void)
{
    struct text out;
    text_init(&out, 4 << 20);
    assert_true(metrics_write(&out));
    return text_steal(&out);
}

static void assert_shown(const char *line)
{
    AUTO_FREE char *text = exposition();
    if (!strstr(text, line))
        fail_msg("not shown: %s", line);
}

static void shows_every_family_even_without_a_series(void **state)
{
    (void)state;
    AUTO_FREE char *text = exposition();
    static const char *const names[] = {
#define METRIC(id, name, type, labels, help) name,
#include "common/metrics.def"
#undef METRIC
            "process_cpu_seconds_total", "process_resident_memory_bytes", "process_open_fds",
            "process_start_time_seconds"};
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        char help[128], type[128];
        snprintf(help, sizeof help, "# HELP %s ", names[i]);
        snprintf(type, sizeof type, "# TYPE %s ", names[i]);
        assert_row(strstr(text, help), names[i]);
        assert_row(strstr(text, type), names[i]);
    }
}

static void escapes_label_values(void **state)
{
    (void)state;
    series_inc(metric(METRIC_MOVES, "a\"b\\c\nd", NULL));
    assert_shown("pawl_moves_total{outcome=\"a\\\"b\\\\c\\nd\"} 1\n");
}

static void finds_the_same_series_again(void **state)
{
    (void)state;
    struct series *first = metric(METRIC_REQUESTS, "shop", "accepted", NULL);
    assert_ptr_equal(first, metric(METRIC_REQUESTS, "shop", "accepted", NULL));
    assert_ptr_not_equal(first, metric(METRIC_REQUESTS, "shop", "duplicate", NULL));
    assert_ptr_not_equal(first, metric(METRIC_REJECTED, "shop", "accepted", NULL));
}

static void *count_many(void *series)
{
    for (int i = 0; i < 50000; i++)
        series_inc(series);
    return NULL;
}

static void counts_exactly_with_several_threads(void **state)
{
    (void)state;
    struct series *series = metric(METRIC_TAKEOVERS, "email", NULL);
    pthread_t threads[4];
    for (size_t i = 0; i < ARRAY_LEN(threads); i++)
        assert_int_equal(pthread_create(&threads[i], NULL, count_many, series), 0);
    for (size_t i = 0; i < ARRAY_LEN(threads); i++)
        pthread_join(threads[i], NULL);
    assert_shown("pawl_takeovers_total{channel=\"email\"} 200000\n");
}

static void puts_a_bound_into_its_own_bucket(void **state)
{
    (void)state;
    struct series *series = metric(METRIC_ACK_SECONDS, "of-this-test", NULL);
    series_observe(series, 0.005); // le means less or equal
    series_observe(series, 0.3);
    series_observe(series, 99);
    assert_shown("pawl_webhook_ack_seconds_bucket{source=\"of-this-test\",le=\"0.005\"} 1\n");
    assert_shown("pawl_webhook_ack_seconds_bucket{source=\"of-this-test\",le=\"0.25\"} 1\n");
    assert_shown("pawl_webhook_ack_seconds_bucket{source=\"of-this-test\",le=\"0.5\"} 2\n");
    assert_shown("pawl_webhook_ack_seconds_bucket{source=\"of-this-test\",le=\"10\"} 2\n");
    assert_shown("pawl_webhook_ack_seconds_bucket{source=\"of-this-test\",le=\"+Inf\"} 3\n");
    assert_shown("pawl_webhook_ack_seconds_sum{source=\"of-this-test\"} 99.305\n");
    assert_shown("pawl_webhook_ack_seconds_count{source=\"of-this-test\"} 3\n");
}

static void shows_families_without_labels_bare(void **state)
{
    (void)state;
    series_observe(metric(METRIC_BATCH_EVENTS, NULL), 3);
    series_set(metric(METRIC_GAUGES_AGE, NULL), 1.5);
    assert_shown("\npawl_accept_batch_events_bucket{le=\"4\"} 1\n");
    assert_shown("\npawl_accept_batch_events_sum 3\n");
    assert_shown("\npawl_gauges_age_seconds 1.5\n");
}

static void is_accepted_by_promtool(void **state)
{
    (void)state;
    series_set(metric(METRIC_BUILD_INFO, "0.1.0", NULL), 1);
    if (system("command -v promtool >/dev/null 2>&1") != 0) {
        print_message("promtool (package prometheus) is not installed: format not checked\n");
        skip();
    }
    AUTO_FREE char *text = exposition();
    FILE *promtool = popen("promtool check metrics", "w");
    assert_non_null(promtool);
    fputs(text, promtool);
    assert_int_equal(pclose(promtool), 0);
}

// Last, since the process has no free series afterwards.
static bool further_ones_share_a_series(void)
{
    char value[16];
    for (int i = 0; i < 6000; i++) {
        snprintf(value, sizeof value, "t%d", i);
        series_inc(metric(METRIC_NOTIFICATIONS, value, NULL));
    }
    AUTO_FREE char *text = exposition();
    const char *other = strstr(text, "pawl_notifications_created_total{type=\"other\"} ");
    return other && strtol(strchr(other, ' ') + 1, NULL, 10) > 1000 &&
           metric(METRIC_NOTIFICATIONS, "new", NULL) == metric(METRIC_NOTIFICATIONS, "newer", NULL);
}

// In a process of its own, since the room for series is never given back.
static void sends_what_is_beyond_the_limit_to_one_series(void **state)
{
    (void)state;
    pid_t child = fork();
    if (child == 0)
        _exit(further_ones_share_a_series() ? 0 : 1);
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(shows_every_family_even_without_a_series),
            cmocka_unit_test(escapes_label_values),
            cmocka_unit_test(finds_the_same_series_again),
            cmocka_unit_test(counts_exactly_with_several_threads),
            cmocka_unit_test(puts_a_bound_into_its_own_bucket),
            cmocka_unit_test(shows_families_without_labels_bare),
            cmocka_unit_test(is_accepted_by_promtool),
            cmocka_unit_test(sends_what_is_beyond_the_limit_to_one_series),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
