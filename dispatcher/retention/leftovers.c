#include "common/metrics.h"
#include "dispatcher/retention/retention_sql.h"
#include "dispatcher/retention/steps.h"

enum { BLANK_BATCH = 500, BLANK_BATCHES = 20 };

static void count_blanked(int64_t n)
{
    if (n > 0)
        series_add(metric(METRIC_BLANKED, NULL), (double)n);
}

// The next batch in order of creation; *ret_more = there may be another.
static bool blank_next(
        struct sweep *sweep, const struct keep *keep, bool *ret_more, struct err *err)
{
    struct pg *pg = sweep->pg;
    pg_add(pg, RETENTION_BLANK_NEXT);
    pg_p_big(pg, keep->bodies_s);
    pg_p_big(pg, BLANK_BATCH);
    pg_p_int(pg, keep->version);
    if (!sweep_fly(sweep, err))
        return false;
    count_blanked(pg_big(pg, 0, 0, 1));
    *ret_more = pg_big(pg, 0, 0, 0) >= BLANK_BATCH;
    return true;
}

bool step_blank(struct sweep *sweep, const struct keep *keep, struct err *err)
{
    bool more = true;
    for (int i = 0; i < BLANK_BATCHES && more; i++)
        if (!blank_next(sweep, keep, &more, err))
            return false;
    pg_add(sweep->pg, RETENTION_BLANK_LATER);
    pg_p_big(sweep->pg, BLANK_BATCH);
    if (!sweep_fly(sweep, err))
        return false;
    count_blanked(pg_big(sweep->pg, 0, 0, 0));
    return true;
}

static double double_or_0(const struct pg *pg, int col)
{
    return pg_null(pg, 0, 0, col) ? 0 : pg_double(pg, 0, 0, col);
}

bool step_waiting(struct sweep *sweep, const struct keep *keep, struct err *err)
{
    struct pg *pg = sweep->pg;
    pg_add(pg, RETENTION_WAITING);
    pg_p_big(pg, keep->park_s);
    if (!sweep_fly(sweep, err))
        return false;
    static const char *const expired[] = {"false", "true"};
    for (int i = 0; i < 2; i++) {
        series_set(metric(METRIC_WAITING, expired[i], NULL), (double)pg_big(pg, 0, 0, 2 * i));
        series_set(metric(METRIC_WAITING_AGE, expired[i], NULL), double_or_0(pg, 2 * i + 1));
    }
    return true;
}
