#include "common/log.h"
#include "common/metrics.h"
#include "dispatcher/retention/keys_sql.h"
#include "dispatcher/retention/retention_sql.h"
#include "dispatcher/retention/steps.h"

// Adds the turn and the guard, which every change of the generations begins with.
static void add_turn(struct sweep *sweep, const struct keep *keep, int64_t gen, bool flip)
{
    struct pg *pg = sweep->pg;
    pg_add_begin(pg);
    pg_add(pg, RETENTION_KEY_LOCK);
    pg_p_big(pg, gen);
    pg_add(pg, RETENTION_KEY_GUARD);
    pg_p_big(pg, gen);
    pg_p_big(pg, keep->keys_s);
    pg_p_bool(pg, flip);
    pg_p_int(pg, keep->version);
}

static enum tried empty_spare(
        struct sweep *sweep, const struct keep *keep, int64_t gen, struct err *err)
{
    add_turn(sweep, keep, gen, false);
    pg_add(sweep->pg, sweep->keys + KEYS_KEYS_TRUNCATE + key_spare_slot(gen));
    pg_add_commit(sweep->pg);
    enum tried how = sweep_try(sweep, err);
    if (how == TRIED_DONE) {
        series_inc(metric(METRIC_EMPTIED, "keys", NULL));
        LOG(INFO, "retention.emptied", "a slot of keys was emptied", L_INT("generation", gen - 3));
    }
    return how;
}

static enum tried flip(struct sweep *sweep, const struct keep *keep, int64_t gen, struct err *err)
{
    add_turn(sweep, keep, gen, true);
    pg_add(sweep->pg, RETENTION_KEY_FLIP);
    pg_p_big(sweep->pg, gen + 1);
    pg_add_commit(sweep->pg);
    enum tried how = sweep_try(sweep, err);
    if (how == TRIED_DONE)
        LOG(INFO, "retention.generation", "a generation of keys begins",
                L_INT("generation", gen + 1));
    return how;
}

// --- The end of an overlap

static void forget(struct sweep *sweep)
{
    for (size_t i = 0; i < sweep->n_running; i++)
        free(sweep->running[i]);
    sweep->n_running = 0;
    sweep->watched = 0;
}

// The flip is visible to us, so whatever began without seeing it is among what runs now.
static bool watch(struct sweep *sweep, int64_t gen, struct err *err)
{
    struct pg *pg = sweep->pg;
    forget(sweep);
    pg_add(pg, RETENTION_KEY_RUNNING);
    if (!sweep_fly(sweep, err))
        return false;
    size_t n = (size_t)pg_rows(pg, 0);
    sweep->running = xrealloc(sweep->running, (n + 1) * sizeof *sweep->running);
    for (size_t i = 0; i < n; i++)
        sweep->running[i] = slice_dup(pg_bytes(pg, 0, (int)i, 0));
    sweep->n_running = n;
    sweep->watched = gen;
    return true;
}

static bool settle(struct sweep *sweep, int64_t gen, struct err *err)
{
    struct pg *pg = sweep->pg;
    if (sweep->watched != gen && !watch(sweep, gen, err))
        return false;
    pg_add(pg, RETENTION_KEY_LEFT);
    pg_p_texts(pg);
    for (size_t i = 0; i < sweep->n_running; i++)
        pg_e_bytes(pg, slice_of(sweep->running[i]));
    if (!sweep_fly(sweep, err))
        return false;
    if (pg_big(pg, 0, 0, 0) > 0)
        return true;
    pg_add(pg, RETENTION_KEY_SETTLE);
    pg_p_big(pg, gen);
    if (!sweep_fly(sweep, err))
        return false;
    forget(sweep);
    LOG(INFO, "retention.settled", "a generation of keys stands alone", L_INT("generation", gen));
    return true;
}

static void show_lag(const struct generation *generation, int64_t keep_s)
{
    int64_t late_s = generation->overlap ? 0 : generation->age_s - keep_s;
    series_set(metric(METRIC_RETENTION_LAG, "keys", NULL), late_s > 0 ? (double)late_s : 0);
}

bool step_keys(
        struct sweep *sweep, const struct keep *keep, const struct look *look, struct err *err)
{
    int64_t gen = look->generation.gen;
    show_lag(&look->generation, keep->keys_s);
    if (look->generation.overlap && sweep->watched != gen && !watch(sweep, gen, err))
        return false;
    switch (key_step(&look->generation, keep->keys_s)) {
    case KEY_EMPTY:
        return empty_spare(sweep, keep, gen, err) != TRIED_FAILED;
    case KEY_FLIP:
        return flip(sweep, keep, gen, err) != TRIED_FAILED;
    case KEY_SETTLE:
        return settle(sweep, gen, err);
    case KEY_REST:
        break;
    }
    return true;
}
