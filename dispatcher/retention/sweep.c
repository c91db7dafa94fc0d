#include "dispatcher/retention/sweep.h"

#include "common/clock.h"
#include "dispatcher/retention/keys_sql.h"
#include "dispatcher/retention/retention_sql.h"
#include "dispatcher/retention/slots_sql.h"
#include "dispatcher/retention/steps.h"

#include <poll.h>

enum {
    CONNECT_MS = 2000,
    STATEMENT_MS = 60000, // looking for needed contents reads all of `due`
    FLIGHT_MS = 65000,
    STOP_POLL_MS = 100,
};

static bool is_stopped(const struct sweep *sweep)
{
    return sweep->stop && atomic_load(sweep->stop);
}

bool sweep_fly(struct sweep *sweep, struct err *err)
{
    int64_t deadline_ms = clock_mono_ms() + FLIGHT_MS;
    enum pg_progress how = pg_launch(sweep->pg, err) ? PG_WAIT : PG_FAILED;
    while (how == PG_WAIT) {
        struct pollfd ready = {.fd = pg_fd(sweep->pg), .events = pg_events(sweep->pg)};
        poll(&ready, 1, STOP_POLL_MS);
        how = pg_step(sweep->pg, err);
        if (how != PG_WAIT)
            break;
        if (is_stopped(sweep) || clock_mono_ms() > deadline_ms) {
            sweep->hung = true;
            return err_set(err, ERR_TEMP, "no answer in time, or not waited for");
        }
    }
    return how == PG_DONE;
}

static bool prepare(struct sweep *sweep, struct err *err)
{
    int64_t deadline_ms = clock_mono_ms() + CONNECT_MS;
    sweep->rings = (int)pg_stmt_count(sweep->pg);
    if (!pg_prepare(sweep->pg, slots_statements, SLOTS_COUNT, deadline_ms, err))
        return false;
    sweep->keys = (int)pg_stmt_count(sweep->pg);
    if (!pg_prepare(sweep->pg, keys_statements, KEYS_COUNT, deadline_ms, err))
        return false;
    pg_add(sweep->pg, RETENTION_SESSION);
    return sweep_fly(sweep, err);
}

bool sweep_open(struct sweep *sweep, const char *conninfo, struct err *err)
{
    const struct pg_options options = {.conninfo = conninfo,
            .role = "pawl_maint",
            .application = "pawl retention",
            .stmts = retention_statements,
            .n_stmts = RETENTION_COUNT,
            .connect_timeout_ms = CONNECT_MS,
            .statement_timeout_ms = STATEMENT_MS};
    // Processes begin their walk over the cap slots at different places: none ends where all began.
    *sweep = (struct sweep){.stop = sweep->stop,
            .pg = pg_connect(&options, err),
            .slot_bucket = (int)(clock_mono_ms() % BUCKETS),
            .slot_nth = -1};
    if (sweep->pg && prepare(sweep, err))
        return true;
    sweep_close(sweep);
    return false;
}

void sweep_close(struct sweep *sweep)
{
    pg_close(sweep->pg);
    for (size_t i = 0; i < sweep->n_running; i++)
        free(sweep->running[i]);
    free(sweep->running);
    free(sweep->slot_cap);
    *sweep = (struct sweep){.stop = sweep->stop};
}

enum tried sweep_try(struct sweep *sweep, struct err *err)
{
    if (sweep_fly(sweep, err))
        return TRIED_DONE;
    const char *state = pg_sqlstate(sweep->pg);
    enum tried how = strcmp(state, "55P03") == 0   ? TRIED_BUSY
                     : strcmp(state, "22012") == 0 ? TRIED_NO
                                                   : TRIED_FAILED;
    if (sweep->hung || !pg_alive(sweep->pg) || !pg_rollback(sweep->pg))
        return TRIED_FAILED;
    return how;
}

static void take_slot(const struct pg *pg, int row, struct look *look)
{
    struct slice table = pg_bytes(pg, 0, row, 5);
    int slot = pg_int(pg, 0, row, 6);
    int64_t bytes = pg_big(pg, 0, row, 7);
    bool keys = slice_eq(table, slice_of("keys")) || slice_eq(table, slice_of("replay_keys"));
    if (keys && slot < KEY_SLOTS)
        look->key_bytes[slot] += bytes;
    for (size_t i = 0; i < RING_COUNT; i++)
        if (slot < RING_SLOTS && slice_eq(table, slice_of(rings[i].name)))
            look->bytes[i][slot] = bytes;
}

static bool look_around(struct sweep *sweep, struct look *look, struct err *err)
{
    struct pg *pg = sweep->pg;
    pg_add(pg, RETENTION_LOOK);
    if (!sweep_fly(sweep, err))
        return false;
    if (pg_rows(pg, 0) == 0)
        return err_set(err, ERR_FATAL, "the schema has no ring slots: run 'pawl migrate check'");
    *look = (struct look){.version = pg_int(pg, 0, 0, 0),
            .now_s = pg_big(pg, 0, 0, 1),
            .generation = {.gen = pg_big(pg, 0, 0, 2),
                    .overlap = pg_bool(pg, 0, 0, 3),
                    .age_s = pg_big(pg, 0, 0, 4)}};
    for (int row = 0; row < pg_rows(pg, 0); row++)
        take_slot(pg, row, look);
    look->generation.spare_empty = look->key_bytes[key_spare_slot(look->generation.gen)] == 0;
    return true;
}

bool sweep_pass(struct sweep *sweep, const struct keep *keep, struct err *err)
{
    struct look look = {0};
    if (!look_around(sweep, &look, err))
        return false;
    // Only by the active policy: a process that has not seen the newest one yet does nothing.
    if (keep->version == 0 || look.version != keep->version)
        return true;
    return step_keys(sweep, keep, &look, err) && step_rings(sweep, keep, &look, err) &&
           step_blank(sweep, keep, err) && step_cap_slots(sweep, err) &&
           step_waiting(sweep, keep, err);
}
