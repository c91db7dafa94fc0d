#include "common/clock.h"
#include "common/log.h"
#include "dispatcher/claim/takeover.h"
#include "dispatcher/dispatcher_sql.h"

struct renewal {
    struct leases *leases;
    int64_t asked_ms;
};

struct renewal *renewal_new(struct leases *leases)
{
    struct renewal *r = xcalloc(1, sizeof *r);
    r->leases = leases;
    return r;
}

void renewal_free(struct renewal *r)
{
    free(r);
}

static enum work start(void *self, struct pg *pg, struct err *err)
{
    struct renewal *r = self;
    r->asked_ms = clock_mono_ms();
    pg_add(pg, SQL_RENEW);
    pg_p_uuids(pg);
    for (struct batch *batch = r->leases->first; batch; batch = batch->next) {
        batch->asked = !batch->lost;
        if (batch->asked)
            pg_e_uuid(pg, batch->id);
    }
    pg_p_uuid(pg, r->leases->worker);
    pg_p_big(pg, r->leases->lease_ms);
    return pg_launch(pg, err) ? WORK_FLYING : WORK_FAILED;
}

static bool is_ours(const struct pg *pg, const struct batch *batch)
{
    for (int row = 0; row < pg_rows(pg, 0); row++) {
        struct key id = pg_uuid(pg, 0, row, 0);
        if (memcmp(&id, &batch->id, sizeof id) == 0)
            return true;
    }
    return false;
}

static enum work next(void *self, struct pg *pg, struct err *err)
{
    (void)err;
    struct renewal *r = self;
    for (struct batch *batch = r->leases->first; batch; batch = batch->next) {
        if (batch->lost || !batch->asked) // a claim may have ended meanwhile, at another desk
            continue;
        if (batch->releasing || is_ours(pg, batch)) {
            batch->granted_ms = r->asked_ms;
            continue;
        }
        batch->lost = true;
        char claim[KEY_HEX];
        key_hex(batch->id, claim);
        LOG(WARNING, "claim.lost", "a lease was taken over: nothing more of it starts",
                L_STR("claim", claim), L_INT("left", batch->left));
    }
    return WORK_DONE;
}

static void fail(void *self, struct pg *pg)
{
    (void)self;
    (void)pg;
}

struct work_kind renewal_work(struct renewal *renewal)
{
    return (struct work_kind){
            .name = "renew", .self = renewal, .start = start, .next = next, .fail = fail};
}
