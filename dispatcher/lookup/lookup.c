#include "dispatcher/lookup/lookup.h"

#include "common/clock.h"
#include "common/log.h"
#include "common/metrics.h"
#include "dispatcher/dispatcher_sql.h"
#include "dispatcher/lookup/round.h"

// Columns of look_take.sql.
enum column {
    COL_BUCKET,
    COL_NOTIFICATION,
    COL_CHANNEL,
    COL_TARGET,
    COL_REDRIVE,
    COL_TRIES,
    COL_STATE,
    COL_PROVIDER,
    COL_SETTLES,
    COL_CREATED,
    COL_NOW,
    COL_FAILED,
};

enum phase {
    PHASE_IDLE,
    PHASE_TAKING,
    PHASE_CLAIMING,
    PHASE_ASKING,
    PHASE_FENCING,
    PHASE_RECORDING
};

struct lookups {
    struct lookup_options options;
    enum phase phase;
    struct look looks[LOOKS_MAX];
    size_t n;
    bool full;
    struct key claim;
    int64_t granted_ms, next_ms, asked_us;
};

struct lookups *lookups_new(const struct lookup_options *options)
{
    struct lookups *l = xcalloc(1, sizeof *l);
    l->options = *options;
    return l;
}

static void free_looks(struct lookups *l)
{
    for (size_t i = 0; i < l->n; i++) {
        free(l->looks[i].target);
        free(l->looks[i].provider);
        for (size_t k = 0; k < l->looks[i].n_failed; k++)
            free(l->looks[i].failed[k]);
        free(l->looks[i].failed);
    }
    l->n = 0;
}

static void forget(struct lookups *l, int64_t wait_ms)
{
    free_looks(l);
    l->phase = PHASE_IDLE;
    l->next_ms = clock_mono_ms() + wait_ms;
}

void lookups_free(struct lookups *l)
{
    if (!l)
        return;
    forget(l, 0);
    free(l);
}

static bool all_landed(const struct lookups *l)
{
    for (size_t i = 0; i < l->n; i++)
        if (!l->looks[i].landed)
            return false;
    return true;
}

void look_landed(struct look *look, const struct attempt_result *result)
{
    look->result = *result;
    look->landed = true;
}

bool look_failed(const struct look *look, const char *id)
{
    for (size_t i = 0; i < look->n_failed; i++)
        if (strcmp(look->failed[i], id) == 0)
            return true;
    return false;
}

bool lookups_busy(const struct lookups *l)
{
    return l->phase != PHASE_IDLE;
}

int64_t lookups_next_ms(const struct lookups *l, bool may_begin)
{
    if (l->phase == PHASE_IDLE)
        return may_begin ? l->next_ms : INT64_MAX;
    return l->phase == PHASE_ASKING && all_landed(l) ? l->next_ms : INT64_MAX;
}

// --- Taking

static enum work begin_round(struct lookups *l, struct pg *pg, struct err *err)
{
    l->phase = PHASE_TAKING;
    l->asked_us = clock_mono_us();
    pg_add_begin(pg);
    pg_add(pg, SQL_LOOK_TAKE);
    pg_p_int(pg, LOOKS_MAX);
    pg_p_ints(pg);
    for (int channel = CHANNEL_EMAIL; channel < CHANNEL_COUNT; channel++)
        pg_e_int(pg, channel * 10 + LOOKS_LANE);
    return pg_launch(pg, err) ? WORK_FLYING : WORK_FAILED;
}

static void take_failed(const struct pg *pg, int row, struct look *look)
{
    size_t n = pg_null(pg, 1, row, COL_FAILED) ? 0 : pg_array_len(pg, 1, row, COL_FAILED);
    look->failed = n ? xcalloc(n, sizeof *look->failed) : NULL;
    for (; look->n_failed < n; look->n_failed++)
        look->failed[look->n_failed] =
                slice_dup(pg_array_bytes(pg, 1, row, COL_FAILED, look->n_failed));
}

static void take_row(struct lookups *l, const struct pg *pg, int row)
{
    if (pg_null(pg, 1, row, COL_STATE))
        return;
    struct look *look = &l->looks[l->n++];
    *look = (struct look){.of = l,
            .bucket = pg_int(pg, 1, row, COL_BUCKET),
            .notification = pg_uuid(pg, 1, row, COL_NOTIFICATION),
            .channel = (enum channel_kind)pg_int(pg, 1, row, COL_CHANNEL),
            .target = slice_dup(pg_bytes(pg, 1, row, COL_TARGET)),
            .redrive = pg_int(pg, 1, row, COL_REDRIVE),
            .tries = pg_int(pg, 1, row, COL_TRIES),
            .created_us = pg_big(pg, 1, row, COL_CREATED),
            .looked = {.state = (enum delivery_state)pg_int(pg, 1, row, COL_STATE),
                    .settles_us = pg_big(pg, 1, row, COL_SETTLES)}};
    if (!pg_null(pg, 1, row, COL_PROVIDER))
        look->provider = slice_dup(pg_bytes(pg, 1, row, COL_PROVIDER));
    take_failed(pg, row, look);
}

static enum work taken(struct lookups *l, struct pg *pg, struct err *err)
{
    int rows = pg_rows(pg, 1);
    l->full = rows == LOOKS_MAX;
    for (int row = 0; row < rows && l->n < LOOKS_MAX; row++)
        take_row(l, pg, row);
    if (rows > 0)
        leases_clock_seen(l->options.leases, pg_big(pg, 1, 0, COL_NOW), l->asked_us);
    l->phase = PHASE_CLAIMING;
    l->claim = key_random();
    l->granted_ms = clock_mono_ms();
    if (l->n > 0) {
        pg_add(pg, SQL_LOOK_CLAIM);
        pg_p_uuid(pg, l->claim);
        pg_p_uuid(pg, l->options.leases->worker);
        pg_p_big(pg, l->options.leases->lease_ms);
        look_names_add(pg, l->looks, l->n);
    }
    pg_add_commit(pg);
    return pg_launch(pg, err) ? WORK_FLYING : WORK_FAILED;
}

// --- Asking

static const struct provider *provider_of(const struct lookups *l, const struct look *look)
{
    const struct policy *policy = l->options.sender(l->options.user);
    const struct channel *channel = policy ? &policy->channels[look->channel] : NULL;
    for (size_t i = 0; channel && look->provider && i < channel->n_providers; i++) {
        const struct provider *provider = &channel->providers[i];
        if (provider->name && strcmp(provider->name, look->provider) == 0)
            return provider;
    }
    return NULL;
}

static void ask_one(struct lookups *l, struct look *look)
{
    const struct provider *provider = provider_of(l, look);
    char hex[KEY_HEX];
    struct key key = key_delivery(
            look->notification, (int)look->channel, slice_of(look->target), look->redrive);
    key_hex(key, hex);
    look->looked.settle_ms = provider ? provider->settle_s * 1000 : 0;
    look->looked.asked_us = leases_now_us(l->options.leases);
    look->looked.askable = true; // its answer may come before this returns
    if (provider &&
            l->options.ask(l->options.user, provider, look->channel, hex, look->created_us, look))
        return;
    look->looked.askable = false;
    look->result = (struct attempt_result){
            .outcome = ATTEMPT_UNANSWERED, .detail = "its provider can't be asked any more"};
    look->landed = true;
}

static enum work claimed(struct lookups *l)
{
    if (l->n == 0) {
        forget(l, l->full ? LOOKS_MORE_MS : LOOKS_EVERY_MS);
        return WORK_DONE;
    }
    leases_add(l->options.leases, l->claim, (int)l->n, l->granted_ms);
    l->phase = PHASE_ASKING;
    l->next_ms = 0;
    for (size_t i = 0; i < l->n; i++)
        ask_one(l, &l->looks[i]);
    return WORK_DONE;
}

// --- Recording

static enum work fence(struct lookups *l, struct pg *pg, struct err *err)
{
    l->phase = PHASE_FENCING;
    pg_add_begin(pg);
    pg_add(pg, SQL_FENCE);
    pg_p_uuids(pg);
    pg_e_uuid(pg, l->claim);
    pg_p_uuid(pg, l->options.leases->worker);
    return pg_launch(pg, err) ? WORK_FLYING : WORK_FAILED;
}

static void drop_batch(struct lookups *l)
{
    struct batch *batch = leases_find(l->options.leases, l->claim);
    while (batch && !leases_member_done(l->options.leases, batch))
        ;
}

static enum work record(struct lookups *l, struct pg *pg, struct err *err)
{
    l->phase = PHASE_RECORDING;
    if (pg_rows(pg, 1) == 0) {
        LOG0(WARNING, "lookup.stale", "the lease was taken over: the answers are dropped");
        drop_batch(l);
        free_looks(l);
        pg_add_commit(pg);
        return pg_launch(pg, err) ? WORK_FLYING : WORK_FAILED;
    }
    int64_t now_us = leases_now_us(l->options.leases);
    for (size_t i = 0; i < l->n; i++) {
        struct look *look = &l->looks[i];
        look->looked.outcome = look->result.outcome;
        look->decision = look_decide(&look->looked, now_us);
    }
    struct batch *batch = leases_find(l->options.leases, l->claim);
    if (batch)
        batch->releasing = true;
    pg_add(pg, SQL_LOOK_RECORD);
    look_rows_add(pg, l->looks, l->n);
    pg_p_uuid(pg, l->claim);
    pg_p_uuid(pg, l->options.leases->worker);
    pg_add(pg, SQL_RELEASE);
    pg_p_uuids(pg);
    pg_e_uuid(pg, l->claim);
    pg_p_uuid(pg, l->options.leases->worker);
    pg_add_commit(pg);
    return pg_launch(pg, err) ? WORK_FLYING : WORK_FAILED;
}

static void count(const struct look *look)
{
    const char *channel = channel_name(look->channel);
    char hex[KEY_HEX];
    key_hex(look->notification, hex);
    series_inc(metric(METRIC_LOOKUPS, channel, attempt_outcome_name(look->result.outcome), NULL));
    if (look->decision.state == DELIVERY_ACCEPTED)
        series_inc(
                metric(METRIC_DELIVERIES, channel, delivery_state_name(DELIVERY_ACCEPTED), NULL));
    LOG(INFO, "delivery.lookup", "a provider was asked about a try", L_STR("notification", hex),
            L_STR("channel", channel), L_INT("step", look->tries),
            L_STR("outcome", attempt_outcome_name(look->result.outcome)),
            L_STR("state", delivery_state_name(look->decision.state)));
}

static enum work recorded(struct lookups *l, const struct pg *pg)
{
    for (int row = 0; l->n > 0 && row < pg_rows(pg, 0); row++) {
        size_t i = (size_t)pg_int(pg, 0, row, 0) - 1;
        if (i < l->n)
            count(&l->looks[i]);
    }
    drop_batch(l);
    forget(l, l->full ? LOOKS_MORE_MS : LOOKS_EVERY_MS);
    return WORK_DONE;
}

// --- The work

static enum work start(void *self, struct pg *pg, struct err *err)
{
    struct lookups *l = self;
    return l->phase == PHASE_ASKING ? fence(l, pg, err) : begin_round(l, pg, err);
}

static enum work next(void *self, struct pg *pg, struct err *err)
{
    struct lookups *l = self;
    switch (l->phase) {
    case PHASE_TAKING:
        return taken(l, pg, err);
    case PHASE_CLAIMING:
        return claimed(l);
    case PHASE_FENCING:
        return record(l, pg, err);
    case PHASE_RECORDING:
        return recorded(l, pg);
    case PHASE_IDLE:
    case PHASE_ASKING:
        break;
    }
    return WORK_DONE;
}

// A claim whose COMMIT got no answer is not asked about: if it is there its lease runs out. A
// record is run again: if it was done the fence is gone.
static void fail(void *self, struct pg *pg)
{
    (void)pg;
    struct lookups *l = self;
    if (l->phase != PHASE_FENCING && l->phase != PHASE_RECORDING) {
        forget(l, LOOKS_EVERY_MS);
        return;
    }
    struct batch *batch = leases_find(l->options.leases, l->claim);
    if (batch)
        batch->releasing = false;
    l->phase = l->n > 0 ? PHASE_ASKING : PHASE_IDLE;
    l->next_ms = clock_mono_ms() + LOOKS_EVERY_MS;
}

struct work_kind lookups_work(struct lookups *lookups)
{
    return (struct work_kind){
            .name = "lookup", .self = lookups, .start = start, .next = next, .fail = fail};
}
