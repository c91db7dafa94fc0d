#include "dispatcher/record/record.h"

#include "common/clock.h"
#include "common/fault.h"
#include "common/log.h"
#include "common/metrics.h"
#include "dispatcher/dispatcher_sql.h"
#include "dispatcher/order.h"
#include "dispatcher/record/decide.h"
#include "dispatcher/record/row.h"
#include "dispatcher/record/suppress.h"

#include <openssl/rand.h>

// One result with what was decided about it.
struct entry {
    struct delivery *delivery;
    struct batch *batch;
    struct decision decision;
    bool stale, recorded;
};

struct recorder {
    struct recorder_options options;
    struct delivery *head, **tail;
    size_t pending;
    size_t batch_max; // 1 after the database refused a batch's data, so that the bad one shows
    struct entry batch[RECORD_BATCH_MAX];
    size_t n;
    bool applying;  // the second flight is under way
    int call_fence; // of the first flight
    uint64_t random;
    struct guard *guard;
    bool suppresses; // the flight in the air has suppress.sql, as its second call
};

struct recorder *recorder_new(const struct recorder_options *options)
{
    struct recorder *r = xcalloc(1, sizeof *r);
    r->options = *options;
    r->tail = &r->head;
    r->guard = guard_new();
    r->batch_max = RECORD_BATCH_MAX;
    (void)RAND_bytes((unsigned char *)&r->random, sizeof r->random);
    return r;
}

void recorder_free(struct recorder *r)
{
    if (!r)
        return;
    while (r->head) {
        struct delivery *delivery = r->head;
        r->head = delivery->next;
        delivery_free(delivery);
    }
    for (size_t i = 0; i < r->n; i++)
        delivery_free(r->batch[i].delivery);
    guard_free(r->guard);
    free(r);
}

void recorder_push(struct recorder *r, struct delivery *delivery)
{
    suppress_note(r->guard, delivery, clock_mono_ms());
    delivery->next = NULL;
    *r->tail = delivery;
    r->tail = &delivery->next;
    r->pending++;
}

size_t recorder_pending(const struct recorder *r)
{
    return r->pending + r->n;
}

static struct delivery *pop(struct recorder *r)
{
    struct delivery *delivery = r->head;
    r->head = delivery->next;
    if (!r->head)
        r->tail = &r->head;
    r->pending--;
    delivery->next = NULL;
    return delivery;
}

static int by_key(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    return delivery_compare(x->delivery, y->delivery);
}

// Rows are locked in key order everywhere.
static void gather(struct recorder *r)
{
    while (r->n < r->batch_max && r->head) {
        struct delivery *delivery = pop(r);
        struct batch *batch = leases_find(r->options.leases, delivery->claim);
        r->batch[r->n++] = (struct entry){.delivery = delivery, .batch = batch};
    }
    qsort(r->batch, r->n, sizeof r->batch[0], by_key);
}

static bool first_of_batch(const struct recorder *r, size_t i)
{
    for (size_t j = 0; j < i; j++)
        if (r->batch[j].batch == r->batch[i].batch)
            return false;
    return true;
}

static void add_batches(struct recorder *r, struct pg *pg, int stmt, bool only_unproven)
{
    pg_add(pg, stmt);
    pg_p_uuids(pg);
    for (size_t i = 0; i < r->n; i++)
        if (first_of_batch(r, i) && (r->batch[i].batch->unproven || !only_unproven))
            pg_e_uuid(pg, r->batch[i].batch->id);
    pg_p_uuid(pg, r->options.leases->worker);
}

static bool any_unproven(const struct recorder *r)
{
    for (size_t i = 0; i < r->n; i++)
        if (r->batch[i].batch->unproven)
            return true;
    return false;
}

static enum work start(void *self, struct pg *pg, struct err *err)
{
    struct recorder *r = self;
    gather(r);
    FAULT_STEP(record_before_lock);
    pg_add_begin(pg);
    r->call_fence = 1;
    // The claim was sent over another connection: its transaction may still be under way there.
    if (any_unproven(r)) {
        add_batches(r, pg, SQL_FENCE_PUT, true);
        r->call_fence++;
    }
    add_batches(r, pg, SQL_FENCE, false);
    return pg_launch(pg, err) ? WORK_FLYING : WORK_FAILED;
}

static bool fence_holds(const struct recorder *r, const struct pg *pg, const struct batch *batch)
{
    for (int row = 0; row < pg_rows(pg, r->call_fence); row++) {
        struct key id = pg_uuid(pg, r->call_fence, row, 0);
        if (memcmp(&id, &batch->id, sizeof id) == 0)
            return true;
    }
    return false;
}

static void count_stale(const struct entry *entry)
{
    // After an unconfirmed COMMIT a missing row may as well be our own doing: not staleness.
    if (entry->batch->uncertain)
        return;
    series_inc(metric(METRIC_STALE_RECORDS, channel_name(entry->delivery->channel), NULL));
    char claim[KEY_HEX];
    key_hex(entry->batch->id, claim);
    LOG(WARNING, "record.stale", "the lease was taken over: the result is dropped",
            L_STR("claim", claim), L_STR("once", entry->delivery->once),
            L_INT("step", entry->delivery->tries),
            L_STR("outcome", attempt_outcome_name(entry->delivery->result.outcome)));
}

// Spreads retries, nothing more: splitmix64, from a random start.
static uint32_t random_32(struct recorder *r)
{
    uint64_t z = r->random += 0x9e3779b97f4a7c15U;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    return (uint32_t)(z >> 32);
}

static void judge(struct recorder *r, struct entry *entry)
{
    const struct recorder_options *o = &r->options;
    const struct delivery *delivery = entry->delivery;
    const struct message *message = o->message(o->user, delivery->policy, delivery->type);
    entry->decision = decide(delivery, message, leases_now_us(o->leases), random_32(r));
    entry->decision.suppress = suppress_decide(r->guard, delivery, clock_mono_ms());
}

// Stale results are dropped here, at the fence; the rest moves up.
static void sift(struct recorder *r, const struct pg *pg)
{
    size_t kept = 0;
    for (size_t i = 0; i < r->n; i++) {
        struct entry *entry = &r->batch[i];
        if (fence_holds(r, pg, entry->batch)) {
            entry->batch->unproven = false;
            judge(r, entry);
            r->batch[kept++] = *entry;
            continue;
        }
        count_stale(entry);
        entry->batch->lost = true;
        leases_member_done(r->options.leases, entry->batch);
        delivery_free(entry->delivery);
    }
    r->n = kept;
}

// Is this the record of the batch's last members?
static bool completes(const struct recorder *r, const struct batch *batch)
{
    int here = 0;
    for (size_t i = 0; i < r->n; i++)
        here += r->batch[i].batch == batch;
    return here == batch->left;
}

static void add_release(struct recorder *r, struct pg *pg)
{
    pg_add(pg, SQL_RELEASE);
    pg_p_uuids(pg);
    for (size_t i = 0; i < r->n; i++) {
        struct batch *batch = r->batch[i].batch;
        if (!first_of_batch(r, i) || !completes(r, batch))
            continue;
        batch->releasing = true;
        pg_e_uuid(pg, batch->id);
    }
    pg_p_uuid(pg, r->options.leases->worker);
}

// Does this result end its delivery, so that its cap slots get their date or go back?
static bool settles(const struct entry *entry)
{
    return entry->delivery->n_caps > 0 && !entry->decision.again;
}

// By what the statement before it wrote, not by what is decided here: a step that was recorded
// before changes nothing.
static void add_settle(struct recorder *r, struct pg *pg)
{
    bool any = false;
    for (size_t i = 0; i < r->n; i++)
        any |= settles(&r->batch[i]);
    if (!any)
        return;
    pg_add(pg, SQL_CAP_SETTLE);
    pg_p_ints(pg);
    for (size_t i = 0; i < r->n; i++)
        for (size_t c = 0; settles(&r->batch[i]) && c < r->batch[i].delivery->n_caps; c++)
            pg_e_int(pg, r->batch[i].delivery->caps[c].bucket);
    pg_p_texts(pg);
    for (size_t i = 0; i < r->n; i++)
        for (size_t c = 0; settles(&r->batch[i]) && c < r->batch[i].delivery->n_caps; c++)
            pg_e_bytes(pg, slice_of(r->batch[i].delivery->caps[c].name));
}

static enum work apply(struct recorder *r, struct pg *pg, struct err *err)
{
    FAULT_STEP(record_after_lock);
    sift(r, pg);
    r->applying = true;
    if (r->n > 0) {
        struct record_row rows[RECORD_BATCH_MAX];
        for (size_t i = 0; i < r->n; i++)
            rows[i] = (struct record_row){r->batch[i].delivery, &r->batch[i].decision};
        pg_add(pg, SQL_RECORD);
        record_rows_add(pg, rows, r->n);
        pg_p_uuid(pg, r->options.leases->worker);
        r->suppresses = record_rows_suppress(pg, rows, r->n);
        record_rows_late(pg, rows, r->n);
        add_release(r, pg);
        add_settle(r, pg); // of what has no claim any more
    }
    pg_add_commit(pg);
    if (FAULT_FAILS(record_before_commit)) {
        err_set(err, ERR_TEMP, "failed on purpose before the commit");
        return WORK_FAILED;
    }
    return pg_launch(pg, err) ? WORK_FLYING : WORK_FAILED;
}

static void count(const struct entry *entry, int64_t now_us)
{
    const struct delivery *d = entry->delivery;
    const char *channel = channel_name(d->channel);
    series_inc(metric(METRIC_ATTEMPTS, channel, attempt_outcome_name(d->result.outcome), NULL));
    if (d->result.outcome != ATTEMPT_GIVEN_BACK)
        series_observe(
                metric(METRIC_ATTEMPT_SECONDS, channel, NULL), (double)d->result.wire_ms / 1000.0);
    if (!entry->decision.again)
        series_inc(metric(
                METRIC_DELIVERIES, channel, delivery_state_name(entry->decision.state), NULL));
    if (entry->decision.state == DELIVERY_ACCEPTED)
        series_observe(
                metric(METRIC_DELIVERY_DELAY, channel, NULL), (double)(now_us - d->due_us) / 1e6);
    LOG(INFO, "delivery.attempt", "a try ended", L_STR("once", d->once), L_STR("channel", channel),
            L_INT("step", d->tries), L_STR("outcome", attempt_outcome_name(d->result.outcome)),
            L_STR("state", delivery_state_name(entry->decision.state)),
            L_INT("code", d->result.code), L_INT("wire_ms", d->result.wire_ms));
}

static void count_suppressed(const struct pg *pg)
{
    for (int row = 0; row < pg_rows(pg, 1); row++)
        series_inc(metric(METRIC_SUPPRESSED, channel_name((enum channel_kind)pg_int(pg, 1, row, 0)),
                suppression_name((enum suppression)pg_int(pg, 1, row, 1)), NULL));
}

static enum work finish(struct recorder *r, struct pg *pg)
{
    FAULT_STEP(record_after_commit);
    for (int row = 0; r->n > 0 && row < pg_rows(pg, 0); row++) {
        int i = pg_int(pg, 0, row, 0) - 1;
        if (i >= 0 && (size_t)i < r->n)
            r->batch[i].recorded = true;
    }
    if (r->n > 0 && r->suppresses)
        count_suppressed(pg);
    int64_t now_us = leases_now_us(r->options.leases);
    for (size_t i = 0; i < r->n; i++) {
        struct entry *entry = &r->batch[i];
        if (entry->recorded)
            count(entry, now_us);
        leases_member_done(r->options.leases, entry->batch);
        delivery_free(entry->delivery);
    }
    r->n = 0;
    r->applying = false;
    r->batch_max = RECORD_BATCH_MAX;
    return WORK_DONE;
}

static enum work next(void *self, struct pg *pg, struct err *err)
{
    struct recorder *r = self;
    if (!r->applying)
        return apply(r, pg, err);
    return finish(r, pg);
}

// The database refuses this one result whatever is tried: its lease runs out and says so.
static void drop_poison(struct recorder *r)
{
    const struct delivery *delivery = r->batch[0].delivery;
    LOG(ERROR, "record.poison", "the database refuses the record of this try",
            L_STR("once", delivery->once), L_INT("step", delivery->tries));
    // Not counted as done, so that its claim is never released: a takeover must find it.
    r->batch[0].batch->lost = true;
    delivery_free(r->batch[0].delivery);
    r->n = 0;
}

static void requeue(struct recorder *r, bool uncertain)
{
    for (size_t i = r->n; i-- > 0;) {
        struct delivery *delivery = r->batch[i].delivery;
        r->batch[i].batch->releasing = false;
        if (uncertain)
            r->batch[i].batch->uncertain = true;
        delivery->next = r->head;
        r->head = delivery;
        if (!delivery->next)
            r->tail = &delivery->next;
        r->pending++;
    }
    r->n = 0;
}

static void fail(void *self, struct pg *pg)
{
    struct recorder *r = self;
    bool refused = pg_sqlstate(pg)[0] != '\0' && !pg_commit_unknown(pg);
    bool poison = refused && pg_failure_of(pg) == PGF_DATA;
    if (poison && r->n == 1)
        drop_poison(r);
    if (poison)
        r->batch_max = 1;
    requeue(r, r->applying && !refused);
    r->applying = false;
}

struct work_kind recorder_work(struct recorder *recorder)
{
    return (struct work_kind){
            .name = "record", .self = recorder, .start = start, .next = next, .fail = fail};
}
