#include "common/log.h"
#include "common/metrics.h"
#include "dispatcher/retention/retention_sql.h"
#include "dispatcher/retention/slots_sql.h"
#include "dispatcher/retention/steps.h"

#include <time.h>

#define DAY ((int64_t)86400)
#define REJECTED_KEEP (7 * DAY)
enum { TRIES = 5, PAUSE_MS = 50 };

enum { BODIES, REPEATS, MOVES, ATTEMPTS, CONTENTS, REJECTED, RECEIPTS };
const struct ring rings[RING_COUNT] = {
        [BODIES] = {"bodies", 2 * DAY},
        [REPEATS] = {"repeats", 8 * DAY},
        [MOVES] = {"moves", 8 * DAY},
        [ATTEMPTS] = {"attempts", 8 * DAY},
        [CONTENTS] = {"contents", 2 * DAY},
        [REJECTED] = {"rejected", DAY},
        [RECEIPTS] = {"receipts", 8 * DAY},
};

static const struct {
    int lock, guard, truncate;
} statements[RING_COUNT] = {
        [BODIES] = {SLOTS_BODIES_LOCK, SLOTS_BODIES_GUARD, SLOTS_BODIES_TRUNCATE},
        [REPEATS] = {SLOTS_REPEATS_LOCK, SLOTS_REPEATS_GUARD, SLOTS_REPEATS_TRUNCATE},
        [MOVES] = {SLOTS_MOVES_LOCK, SLOTS_MOVES_GUARD, SLOTS_MOVES_TRUNCATE},
        [ATTEMPTS] = {SLOTS_ATTEMPTS_LOCK, SLOTS_ATTEMPTS_GUARD, SLOTS_ATTEMPTS_TRUNCATE},
        [CONTENTS] = {SLOTS_CONTENTS_LOCK, SLOTS_CONTENTS_GUARD, SLOTS_CONTENTS_TRUNCATE},
        [REJECTED] = {SLOTS_REJECTED_LOCK, SLOTS_REJECTED_GUARD, SLOTS_REJECTED_TRUNCATE},
        [RECEIPTS] = {SLOTS_RECEIPTS_LOCK, SLOTS_RECEIPTS_GUARD, SLOTS_RECEIPTS_TRUNCATE},
};

static int64_t keep_of(int ring, const struct keep *keep)
{
    if (ring == REJECTED)
        return REJECTED_KEEP;
    return ring == BODIES || ring == CONTENTS ? keep->bodies_s : keep->keys_s;
}

static void pause_ms(long ms)
{
    nanosleep(&(struct timespec){.tv_nsec = ms * 1000000}, NULL);
}

// One flight: nothing of it is left open while this process does not run.
static enum tried try_slot(
        struct sweep *sweep, const struct keep *keep, int ring, int slot, struct err *err)
{
    struct pg *pg = sweep->pg;
    pg_add_begin(pg);
    pg_add(pg, sweep->rings + statements[ring].lock + slot);
    pg_add(pg, sweep->rings + statements[ring].guard + slot);
    pg_p_int(pg, slot);
    pg_p_big(pg, rings[ring].slot_s);
    pg_p_big(pg, keep_of(ring, keep));
    pg_p_int(pg, keep->version);
    pg_add(pg, sweep->rings + statements[ring].truncate + slot);
    pg_add_commit(pg);
    return sweep_try(sweep, err);
}

static bool empty_slot(struct sweep *sweep, const struct keep *keep, int ring, int slot,
        bool *ret_emptied, struct err *err)
{
    enum tried how = TRIED_BUSY;
    for (int i = 0; i < TRIES && how == TRIED_BUSY; i++) {
        if (i > 0)
            pause_ms(PAUSE_MS);
        how = try_slot(sweep, keep, ring, slot, err);
    }
    *ret_emptied = how == TRIED_DONE;
    if (how == TRIED_DONE) {
        series_inc(metric(METRIC_EMPTIED, rings[ring].name, NULL));
        LOG(INFO, "retention.emptied", "a slot was emptied", L_STR("table", rings[ring].name),
                L_INT("slot", slot));
    }
    return how != TRIED_FAILED;
}

static bool content_needed(struct sweep *sweep, int slot, bool *ret_needed, struct err *err)
{
    pg_add(sweep->pg, RETENTION_CONTENT_NEEDED);
    pg_p_int(sweep->pg, slot);
    if (!sweep_fly(sweep, err))
        return false;
    *ret_needed = pg_bool(sweep->pg, 0, 0, 0);
    return true;
}

static bool handle_slot(struct sweep *sweep, const struct keep *keep, int ring, int slot,
        bool *ret_emptied, struct err *err)
{
    bool needed = false;
    *ret_emptied = false;
    if (ring == CONTENTS && !content_needed(sweep, slot, &needed, err))
        return false;
    return needed || empty_slot(sweep, keep, ring, slot, ret_emptied, err);
}

static bool handle_ring(struct sweep *sweep, const struct keep *keep, const struct look *look,
        int ring, struct err *err)
{
    int64_t keep_s = keep_of(ring, keep), lag_s = 0;
    for (int slot = 0; slot < RING_SLOTS; slot++) {
        bool emptied = false;
        if (look->bytes[ring][slot] == 0)
            continue;
        if (slot_may_be_emptied(&rings[ring], slot, look->now_s, keep_s) &&
                !handle_slot(sweep, keep, ring, slot, &emptied, err))
            return false;
        int64_t late_s = slot_over_for_s(&rings[ring], slot, look->now_s) - keep_s;
        if (!emptied && late_s > lag_s)
            lag_s = late_s;
    }
    series_set(metric(METRIC_RETENTION_LAG, rings[ring].name, NULL), (double)lag_s);
    return true;
}

bool step_rings(
        struct sweep *sweep, const struct keep *keep, const struct look *look, struct err *err)
{
    for (int ring = 0; ring < RING_COUNT; ring++)
        if (!handle_ring(sweep, keep, look, ring, err))
            return false;
    return true;
}
