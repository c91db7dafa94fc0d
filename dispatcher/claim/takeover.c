#include "dispatcher/claim/takeover.h"

#include "common/fault.h"
#include "common/log.h"
#include "common/metrics.h"
#include "dispatcher/dispatcher_sql.h"

struct takeover {
    const struct leases *leases;
    const struct policy *(*sender)(void *user);
    void *user;
    enum { TAKEOVER_LOOKING, TAKEOVER_JUDGING, TAKEOVER_NOTHING } phase;
    struct key claim;
    bool found;
};

struct takeover *takeover_new(
        const struct leases *leases, const struct policy *(*sender)(void *user), void *user)
{
    struct takeover *t = xcalloc(1, sizeof *t);
    t->leases = leases;
    t->sender = sender;
    t->user = user;
    return t;
}

void takeover_free(struct takeover *t)
{
    free(t);
}

bool takeover_found(const struct takeover *t)
{
    return t->found;
}

static enum work start(void *self, struct pg *pg, struct err *err)
{
    struct takeover *t = self;
    t->phase = TAKEOVER_LOOKING;
    t->found = false;
    pg_add_begin(pg);
    pg_add(pg, SQL_EXPIRED);
    pg_p_uuids(pg);
    for (const struct batch *batch = t->leases->first; batch; batch = batch->next)
        if (!batch->lost)
            pg_e_uuid(pg, batch->id);
    return pg_launch(pg, err) ? WORK_FLYING : WORK_FAILED;
}

// One row of three arrays for each provider that can be asked; part: which of the three.
static void add_part(const struct policy *policy, struct pg *pg, int part)
{
    for (int kind = CHANNEL_EMAIL; policy && kind < CHANNEL_COUNT; kind++) {
        const struct channel *channel = &policy->channels[kind];
        for (size_t i = 0; i < channel->n_providers; i++) {
            const struct provider *provider = &channel->providers[i];
            if (provider->settle_s == 0 || !provider->name)
                continue;
            if (part == 0)
                pg_e_int(pg, kind);
            else if (part == 1)
                pg_e_bytes(pg, slice_of(provider->name));
            else
                pg_e_big(pg, provider->settle_s * 1000);
        }
    }
}

static void add_askable(const struct takeover *t, struct pg *pg)
{
    const struct policy *policy = t->sender(t->user);
    pg_p_ints(pg);
    add_part(policy, pg, 0);
    pg_p_texts(pg);
    add_part(policy, pg, 1);
    pg_p_bigs(pg);
    add_part(policy, pg, 2);
}

static enum work judge(struct takeover *t, struct pg *pg, struct err *err)
{
    if (pg_rows(pg, 1) == 0) {
        t->phase = TAKEOVER_NOTHING;
        pg_add_commit(pg);
        return pg_launch(pg, err) ? WORK_FLYING : WORK_FAILED;
    }
    FAULT_STEP(takeover_after_lock);
    t->phase = TAKEOVER_JUDGING;
    t->claim = pg_uuid(pg, 1, 0, 0);
    struct key worker = pg_uuid(pg, 1, 0, 1);
    pg_add(pg, SQL_TAKEOVER);
    pg_p_uuid(pg, t->claim);
    add_askable(t, pg);
    pg_add(pg, SQL_RELEASE);
    pg_p_uuids(pg);
    pg_e_uuid(pg, t->claim);
    pg_p_uuid(pg, worker);
    pg_add_commit(pg);
    return pg_launch(pg, err) ? WORK_FLYING : WORK_FAILED;
}

static void count(const struct pg *pg, int row)
{
    const char *channel = channel_name((enum channel_kind)pg_int(pg, 0, row, 0));
    enum delivery_order order = (enum delivery_order)pg_int(pg, 0, row, 1);
    int n = pg_int(pg, 0, row, 2);
    series_add(metric(METRIC_TAKEOVERS, channel, NULL), n);
    series_add(metric(METRIC_ATTEMPTS, channel, attempt_outcome_name(ATTEMPT_UNKNOWN), NULL), n);
    if (order == AT_MOST_ONCE)
        series_add(
                metric(METRIC_DELIVERIES, channel, delivery_state_name(DELIVERY_UNKNOWN), NULL), n);
}

static enum work judged(struct takeover *t, const struct pg *pg)
{
    FAULT_STEP(takeover_after_commit);
    int members = 0;
    for (int row = 0; row < pg_rows(pg, 0); row++) {
        count(pg, row);
        members += pg_int(pg, 0, row, 2);
    }
    char claim[KEY_HEX];
    key_hex(t->claim, claim);
    LOG(WARNING, "claim.takeover", "a lease ran out and was taken over", L_STR("claim", claim),
            L_INT("members", members));
    t->found = true;
    return WORK_DONE;
}

static enum work next(void *self, struct pg *pg, struct err *err)
{
    struct takeover *t = self;
    if (t->phase == TAKEOVER_LOOKING)
        return judge(t, pg, err);
    return t->phase == TAKEOVER_JUDGING ? judged(t, pg) : WORK_DONE;
}

// Whatever happened to it: what is still there is found again.
static void fail(void *self, struct pg *pg)
{
    (void)self;
    (void)pg;
}

struct work_kind takeover_work(struct takeover *takeover)
{
    return (struct work_kind){
            .name = "takeover", .self = takeover, .start = start, .next = next, .fail = fail};
}
