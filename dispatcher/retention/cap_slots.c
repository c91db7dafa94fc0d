#include "common/metrics.h"
#include "dispatcher/retention/retention_sql.h"
#include "dispatcher/retention/steps.h"

// At most so many in one pass, but few where nothing is to be deleted: a table of slots that are
// all in use is only walked through.
enum { BATCH = 1000, BATCHES = 20, IDLE_BATCHES = 3, WORTH_PART = 4 };

// seen = the whole batch: the walk goes on behind its last; else it begins anew.
static void remember(struct sweep *sweep, bool goes_on)
{
    const struct pg *pg = sweep->pg;
    free(sweep->slot_cap);
    sweep->slot_cap = goes_on ? slice_dup(pg_bytes(pg, 0, 0, 3)) : NULL;
    sweep->slot_bucket = goes_on ? pg_int(pg, 0, 0, 2) : 0;
    sweep->slot_nth = goes_on ? pg_int(pg, 0, 0, 4) : -1;
}

// The next batch in key order.
static bool delete_next(
        struct sweep *sweep, int64_t *ret_seen, int64_t *ret_deleted, struct err *err)
{
    struct pg *pg = sweep->pg;
    pg_add(pg, RETENTION_CAP_SLOTS);
    pg_p_int(pg, sweep->slot_bucket);
    pg_p_text(pg, slice_of(sweep->slot_cap ? sweep->slot_cap : ""));
    pg_p_int(pg, sweep->slot_nth);
    pg_p_big(pg, BATCH);
    if (!sweep_fly(sweep, err))
        return false;
    *ret_seen = pg_big(pg, 0, 0, 0);
    *ret_deleted = pg_big(pg, 0, 0, 1);
    remember(sweep, *ret_seen >= BATCH);
    return true;
}

bool step_cap_slots(struct sweep *sweep, struct err *err)
{
    for (int i = 1; i <= BATCHES; i++) {
        int64_t seen = 0, deleted = 0;
        if (!delete_next(sweep, &seen, &deleted, err))
            return false;
        if (deleted > 0)
            series_add(metric(METRIC_CAP_SLOTS, NULL), (double)deleted);
        if (seen < BATCH || (i >= IDLE_BATCHES && deleted < BATCH / WORTH_PART))
            break;
    }
    return true;
}
