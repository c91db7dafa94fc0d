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

struct round {
    const struct lookup_options *options;
    enum channel_kind channel;
    enum phase phase;
    struct look looks[LOOKS_MAX];
    size_t n;
    bool full;
    struct key claim;
    int64_t granted_ms, next_ms, asked_us;
};

struct lookups {
    struct lookup_options options;
    struct round rounds[LOOKS_ROUNDS];
};

struct lookups *lookups_new(const struct lookup_options *options)
{
    struct lookups *lookups = xcalloc(1, sizeof *lookups);
    lookups->options = *options;
    for (int i = 0; i < LOOKS_ROUNDS; i++)
        lookups->rounds[i] = (struct round){
                .options = &lookups->options, .channel = (enum channel_kind)(CHANNEL_EMAIL + i)};
    return lookups;
}

static void free_looks(struct round *r)
{
    for (size_t i = 0; i < r->n; i++) {
        free(r->looks[i].target);
        free(r->looks[i].provider);
        for (size_t k = 0; k < r->looks[i].n_failed; k++)
            free(r->looks[i].failed[k]);
        free(r->looks[i].failed);
    }
    r->n = 0;
}

static void forget(struct round *r, int64_t wait_ms)
{
    free_looks(r);
    r->phase = PHASE_IDLE;
    r->next_ms = clock_mono_ms() + wait_ms;
}

void lookups_free(struct lookups *lookups)
{
    for (int i = 0; lookups && i < LOOKS_ROUNDS; i++)
        free_looks(&lookups->rounds[i]);
    free(lookups);
}

static bool all_landed(const struct round *r)
{
    for (size_t i = 0; i < r->n; i++)
        if (!r->looks[i].landed)
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

bool lookups_busy(const struct lookups *lookups)
{
    for (int i = 0; i < LOOKS_ROUNDS; i++)
        if (lookups->rounds[i].phase != PHASE_IDLE)
            return true;
    return false;
}

static int64_t next_ms(const struct round *r, bool may_begin)
{
    bool ready = r->phase == PHASE_IDLE ? may_begin : r->phase == PHASE_ASKING && all_landed(r);
    return ready ? r->next_ms : INT64_MAX;
}

// The one whose turn is first, so that none is left behind.
static int first(const struct lookups *lookups, bool may_begin)
{
    int found = 0;
    for (int i = 1; i < LOOKS_ROUNDS; i++)
        if (next_ms(&lookups->rounds[i], may_begin) < next_ms(&lookups->rounds[found], may_begin))
            found = i;
    return found;
}

int64_t lookups_next_ms(const struct lookups *lookups, bool may_begin)
{
    return next_ms(&lookups->rounds[first(lookups, may_begin)], may_begin);
}

// --- Taking

static enum work begin_round(struct round *r, struct pg *pg, struct err *err)
{
    r->phase = PHASE_TAKING;
    r->asked_us = clock_mono_us();
    pg_add_begin(pg);
    pg_add(pg, SQL_LOOK_TAKE);
    pg_p_int(pg, LOOKS_MAX);
    pg_p_int(pg, (int)r->channel * 10 + LOOKS_LANE);
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

static void take_row(struct round *r, const struct pg *pg, int row)
{
    if (pg_null(pg, 1, row, COL_STATE))
        return;
    struct look *look = &r->looks[r->n++];
    *look = (struct look){.bucket = pg_int(pg, 1, row, COL_BUCKET),
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

static enum work taken(struct round *r, struct pg *pg, struct err *err)
{
    int rows = pg_rows(pg, 1);
    r->full = rows == LOOKS_MAX;
    for (int row = 0; row < rows && r->n < LOOKS_MAX; row++)
        take_row(r, pg, row);
    if (rows > 0)
        leases_clock_seen(r->options->leases, pg_big(pg, 1, 0, COL_NOW), r->asked_us);
    r->phase = PHASE_CLAIMING;
    r->claim = key_random();
    r->granted_ms = clock_mono_ms();
    if (r->n > 0) {
        pg_add(pg, SQL_LOOK_CLAIM);
        pg_p_uuid(pg, r->claim);
        pg_p_uuid(pg, r->options->leases->worker);
        pg_p_big(pg, r->options->leases->lease_ms);
        look_names_add(pg, r->looks, r->n);
    }
    pg_add_commit(pg);
    return pg_launch(pg, err) ? WORK_FLYING : WORK_FAILED;
}

// --- Asking

static const struct provider *provider_of(const struct round *r, const struct look *look)
{
    const struct policy *policy = r->options->sender(r->options->user);
    const struct channel *channel = policy ? &policy->channels[look->channel] : NULL;
    for (size_t i = 0; channel && look->provider && i < channel->n_providers; i++) {
        const struct provider *provider = &channel->providers[i];
        if (provider->name && strcmp(provider->name, look->provider) == 0)
            return provider;
    }
    return NULL;
}

static void ask_one(struct round *r, struct look *look)
{
    const struct provider *provider = provider_of(r, look);
    char hex[KEY_HEX];
    struct key key = key_delivery(
            look->notification, (int)look->channel, slice_of(look->target), look->redrive);
    key_hex(key, hex);
    look->looked.settle_ms = provider ? provider->settle_s * 1000 : 0;
    look->looked.asked_us = leases_now_us(r->options->leases);
    look->looked.askable = true; // its answer may come before this returns
    if (provider &&
            r->options->ask(r->options->user, provider, look->channel, hex, look->created_us, look))
        return;
    look->looked.askable = false;
    look->result = (struct attempt_result){
            .outcome = ATTEMPT_UNANSWERED, .detail = "its provider can't be asked any more"};
    look->landed = true;
}

static enum work claimed(struct round *r)
{
    if (r->n == 0) {
        forget(r, r->full ? LOOKS_MORE_MS : LOOKS_EVERY_MS);
        return WORK_DONE;
    }
    leases_add(r->options->leases, r->claim, (int)r->n, r->granted_ms);
    r->phase = PHASE_ASKING;
    r->next_ms = 0;
    for (size_t i = 0; i < r->n; i++)
        ask_one(r, &r->looks[i]);
    return WORK_DONE;
}

// --- Recording

static enum work fence(struct round *r, struct pg *pg, struct err *err)
{
    r->phase = PHASE_FENCING;
    pg_add_begin(pg);
    pg_add(pg, SQL_FENCE);
    pg_p_uuids(pg);
    pg_e_uuid(pg, r->claim);
    pg_p_uuid(pg, r->options->leases->worker);
    return pg_launch(pg, err) ? WORK_FLYING : WORK_FAILED;
}

static void drop_batch(struct round *r)
{
    struct batch *batch = leases_find(r->options->leases, r->claim);
    while (batch && !leases_member_done(r->options->leases, batch))
        ;
}

static enum work record(struct round *r, struct pg *pg, struct err *err)
{
    r->phase = PHASE_RECORDING;
    if (pg_rows(pg, 1) == 0) {
        LOG0(WARNING, "lookup.stale", "the lease was taken over: the answers are dropped");
        drop_batch(r);
        free_looks(r);
        pg_add_commit(pg);
        return pg_launch(pg, err) ? WORK_FLYING : WORK_FAILED;
    }
    int64_t now_us = leases_now_us(r->options->leases);
    for (size_t i = 0; i < r->n; i++) {
        struct look *look = &r->looks[i];
        look->looked.outcome = look->result.outcome;
        look->decision = look_decide(&look->looked, now_us);
    }
    struct batch *batch = leases_find(r->options->leases, r->claim);
    if (batch)
        batch->releasing = true;
    pg_add(pg, SQL_LOOK_RECORD);
    look_rows_add(pg, r->looks, r->n);
    pg_p_uuid(pg, r->claim);
    pg_p_uuid(pg, r->options->leases->worker);
    pg_add(pg, SQL_RELEASE);
    pg_p_uuids(pg);
    pg_e_uuid(pg, r->claim);
    pg_p_uuid(pg, r->options->leases->worker);
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

static enum work recorded(struct round *r, const struct pg *pg)
{
    for (int row = 0; r->n > 0 && row < pg_rows(pg, 0); row++) {
        size_t i = (size_t)pg_int(pg, 0, row, 0) - 1;
        if (i < r->n)
            count(&r->looks[i]);
    }
    drop_batch(r);
    forget(r, r->full ? LOOKS_MORE_MS : LOOKS_EVERY_MS);
    return WORK_DONE;
}

// --- The work

static enum work start(void *self, struct pg *pg, struct err *err)
{
    struct round *r = self;
    return r->phase == PHASE_ASKING ? fence(r, pg, err) : begin_round(r, pg, err);
}

static enum work next(void *self, struct pg *pg, struct err *err)
{
    struct round *r = self;
    switch (r->phase) {
    case PHASE_TAKING:
        return taken(r, pg, err);
    case PHASE_CLAIMING:
        return claimed(r);
    case PHASE_FENCING:
        return record(r, pg, err);
    case PHASE_RECORDING:
        return recorded(r, pg);
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
    struct round *r = self;
    if (r->phase != PHASE_FENCING && r->phase != PHASE_RECORDING) {
        forget(r, LOOKS_EVERY_MS);
        return;
    }
    struct batch *batch = leases_find(r->options->leases, r->claim);
    if (batch)
        batch->releasing = false;
    r->phase = r->n > 0 ? PHASE_ASKING : PHASE_IDLE;
    r->next_ms = clock_mono_ms() + LOOKS_EVERY_MS;
}

struct work_kind lookups_work(struct lookups *lookups, bool may_begin)
{
    return (struct work_kind){.name = "lookup",
            .self = &lookups->rounds[first(lookups, may_begin)],
            .start = start,
            .next = next,
            .fail = fail};
}
