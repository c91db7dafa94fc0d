#include "dispatcher/gauges.h"

#include "common/clock.h"
#include "common/config/policy.h"
#include "common/metrics.h"
#include "dispatcher/dispatcher_sql.h"

struct gauges {
    int64_t read_ms; // when the figures were read last, 0 = never
};

struct gauges *gauges_new(void)
{
    return xcalloc(1, sizeof(struct gauges));
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
    (void)self;
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
