#include "dispatcher/gauges.h"

#include "common/clock.h"
#include "common/config/policy.h"
#include "common/metrics.h"
#include "dispatcher/dispatcher_sql.h"

enum {
    FIRST_MS = 1000, // after the start: a backlog is claimed before it is counted
    EVERY_MS = 10000,
    REST = 100, // times as long as it took: a million rows take the server some tenths of a second
    REST_MAX_MS = 300000,
};

struct gauges {
    int64_t read_ms; // when the figures were read last, 0 = never
    int64_t started_ms, next_ms;
};

struct gauges *gauges_new(void)
{
    struct gauges *gauges = xcalloc(1, sizeof *gauges);
    gauges->next_ms = clock_mono_ms() + FIRST_MS;
    return gauges;
}

int64_t gauges_rest_ms(int64_t took_ms)
{
    int64_t rest_ms = took_ms < REST_MAX_MS / REST ? took_ms * REST : REST_MAX_MS;
    return rest_ms > EVERY_MS ? rest_ms : EVERY_MS;
}

int64_t gauges_next_ms(const struct gauges *gauges)
{
    return gauges->next_ms;
}

void gauges_free(struct gauges *gauges)
{
    free(gauges);
}

void gauges_show_age(const struct gauges *gauges, int64_t now_ms)
{
    if (gauges->read_ms)
        series_set(metric(METRIC_GAUGES_AGE, NULL), (double)(now_ms - gauges->read_ms) / 1000.0);
}

static enum work start(void *self, struct pg *pg, struct err *err)
{
    struct gauges *gauges = self;
    gauges->started_ms = clock_mono_ms();
    gauges->next_ms = gauges->started_ms + EVERY_MS; // if it fails
    pg_add(pg, SQL_GAUGES);
    pg_p_ints(pg);
    for (int channel = CHANNEL_EMAIL; channel < CHANNEL_COUNT; channel++)
        pg_e_int(pg, channel);
    return pg_launch(pg, err) ? WORK_FLYING : WORK_FAILED;
}

static double double_or_0(const struct pg *pg, int row, int col)
{
    return pg_null(pg, 0, row, col) ? 0 : pg_double(pg, 0, row, col);
}

static enum work next(void *self, struct pg *pg, struct err *err)
{
    (void)err;
    struct gauges *gauges = self;
    for (int row = 0; row < pg_rows(pg, 0); row++) {
        const char *channel = channel_name((enum channel_kind)pg_int(pg, 0, row, 0));
        series_set(metric(METRIC_DUE, channel, NULL), (double)pg_big(pg, 0, row, 1));
        series_set(metric(METRIC_DUE_AGE, channel, NULL), double_or_0(pg, row, 2));
        series_set(metric(METRIC_UNKNOWN, channel, NULL), (double)pg_big(pg, 0, row, 3));
        series_set(metric(METRIC_UNKNOWN_AGE, channel, NULL), double_or_0(pg, row, 4));
        series_set(metric(METRIC_HELD, channel, NULL), (double)pg_big(pg, 0, row, 5));
    }
    gauges->read_ms = clock_mono_ms();
    gauges->next_ms = gauges->read_ms + gauges_rest_ms(gauges->read_ms - gauges->started_ms);
    gauges_show_age(gauges, gauges->read_ms);
    return WORK_DONE;
}

static void fail(void *self, struct pg *pg)
{
    (void)self;
    (void)pg;
}

struct work_kind gauges_work(struct gauges *gauges)
{
    return (struct work_kind){
            .name = "gauges", .self = gauges, .start = start, .next = next, .fail = fail};
}
