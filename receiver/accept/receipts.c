#include "receiver/accept/receipts.h"

#include "receiver/accept/accept_sql.h"

// Attempt outcomes: the numbers of dispatcher/delivery.h.
enum { ATTEMPT_ACCEPTED = 1, ATTEMPT_REFUSED = 2, ATTEMPT_RETRY = 3 };

static bool names_one(const struct item *item)
{
    const struct event *event = item->event;
    return item->won && !item->replayed && event->receipt && event->receipt->placed;
}

static int compare(const struct settle *a, const struct settle *b)
{
    if (a->place.bucket != b->place.bucket)
        return a->place.bucket < b->place.bucket ? -1 : 1;
    int order = memcmp(a->place.notification.bytes, b->place.notification.bytes, KEY_BYTES);
    if (order == 0)
        order = (a->channel > b->channel) - (a->channel < b->channel);
    return order ? order
                 : (a->place.redrive > b->place.redrive) - (a->place.redrive < b->place.redrive);
}

static int compare_void(const void *left, const void *right)
{
    return compare(left, right);
}

static struct settle settle_of(const struct item *item)
{
    const struct receipt *receipt = item->event->receipt;
    return (struct settle){.place = receipt->place, .channel = receipt->channel};
}

void receipts_group(struct batch *batch)
{
    size_t n = 0, kept = 0;
    for (size_t i = 0; i < batch->n; i++)
        n += names_one(&batch->items[i]);
    if (n == 0)
        return;
    batch->settles = xcalloc(n, sizeof *batch->settles);
    n = 0;
    for (size_t i = 0; i < batch->n; i++)
        if (names_one(&batch->items[i]))
            batch->settles[n++] = settle_of(&batch->items[i]);
    qsort(batch->settles, n, sizeof *batch->settles, compare_void);
    for (size_t i = 0; i < n; i++)
        if (kept == 0 || compare(&batch->settles[kept - 1], &batch->settles[i]) != 0)
            batch->settles[kept++] = batch->settles[i];
    batch->n_settles = kept;
}

#define SETTLES(begin, put)                                                                        \
    do {                                                                                           \
        begin(pg);                                                                                 \
        for (size_t i_ = 0; i_ < batch->n_settles; i_++) {                                         \
            const struct settle *settle = &batch->settles[i_];                                     \
            if (only_changed && !settle->changed)                                                  \
                continue;                                                                          \
            put;                                                                                   \
        }                                                                                          \
    } while (0)

void receipts_lock_rows(struct pg *pg, const struct batch *batch)
{
    const bool only_changed = false;
    pg_add(pg, ACCEPT_RECEIPTS_LOCK);
    SETTLES(pg_p_ints, pg_e_int(pg, settle->place.bucket));
    SETTLES(pg_p_uuids, pg_e_uuid(pg, settle->place.notification));
    SETTLES(pg_p_ints, pg_e_int(pg, (int)settle->channel));
    SETTLES(pg_p_ints, pg_e_int(pg, settle->place.redrive));
}

static int64_t big_or_zero(const struct pg *pg, int call, int row, int col)
{
    return pg_null(pg, call, row, col) ? 0 : pg_big(pg, call, row, col);
}

// smtp and http go to anybody's service, so anybody's receipts may be of them.
static const char *driver_of(
        const struct policy *policy, enum channel_kind channel, struct slice name)
{
    const struct channel *rows = &policy->channels[channel];
    for (size_t i = 0; i < rows->n_providers; i++) {
        const char *driver = rows->providers[i].driver_name;
        if (!slice_eq(name, slice_of(rows->providers[i].name)))
            continue;
        return strcmp(driver, "smtp") == 0 || strcmp(driver, "http") == 0 ? NULL : driver;
    }
    return NULL;
}

static void take_tries(
        const struct batch *batch, const struct pg *pg, int call, int row, struct settle *settle)
{
    const char *driver = pg_null(pg, call, row, 12) ? NULL
                                                    : driver_of(batch->policy, settle->channel,
                                                              pg_bytes(pg, call, row, 12));
    settle->driver = driver ? xstrdup(driver) : NULL;
    size_t n = pg_null(pg, call, row, 13) ? 0 : pg_array_len(pg, call, row, 13);
    for (size_t i = 0; i < n; i++) {
        AUTO_FREE char *id = slice_dup(pg_array_bytes(pg, call, row, 13, i));
        settle_failed(settle, id);
    }
}

void receipts_locked(struct work *work, int call)
{
    const struct pg *pg = work->pg;
    for (int row = 0; row < pg_rows(pg, call); row++) {
        struct settle *settle = &work->batch->settles[pg_int(pg, call, row, 0)];
        settle->there = true;
        settle->state0 = settle->state = pg_int(pg, call, row, 1);
        settle->tries = pg_int(pg, call, row, 2);
        settle->order = pg_int(pg, call, row, 3);
        settle->type = pg_null(pg, call, row, 4) ? 0 : pg_int(pg, call, row, 4);
        settle->address = slice_dup(pg_bytes(pg, call, row, 5));
        if (!pg_null(pg, call, row, 6))
            settle->provider_id = slice_dup(pg_bytes(pg, call, row, 6));
        settle->now_us = pg_big(pg, call, row, 7);
        settle->expires_us = big_or_zero(pg, call, row, 8);
        settle->retry_until_us = big_or_zero(pg, call, row, 9);
        settle->asks = pg_bool(pg, call, row, 10);
        settle->doubt = pg_bool(pg, call, row, 11);
        take_tries(work->batch, pg, call, row, settle);
    }
}

static uint32_t random_32(void)
{
    uint32_t number;
    struct key key = key_random();
    memcpy(&number, key.bytes, sizeof number);
    return number;
}

static struct settle *find(const struct batch *batch, const struct item *item)
{
    struct settle wanted = settle_of(item);
    return bsearch(&wanted, batch->settles, batch->n_settles, sizeof wanted, compare_void);
}

static void judge_one(struct batch *batch, struct item *item)
{
    struct event *event = item->event;
    struct told told = {.item = item, .settle = find(batch, item)};
    told.from = told.settle->state;
    told.outcome = settle_judge(told.settle, event->receipt,
            policy_message_by_id(batch->policy, told.settle->type), random_32());
    told.to = told.settle->state;
    batch->told[batch->n_told++] = told;
    item->settled = told.outcome;
    // Of an event that says something of an order too, that stands: parked, or accepted.
    if (told.outcome == SETTLE_NOWHERE)
        event->remark = "unknown-delivery";
    else if (event->outcome == EVENT_UNMAPPED)
        event->outcome = EVENT_ACCEPTED;
}

void receipts_judge(struct batch *batch)
{
    for (size_t i = 0; i < batch->n; i++) {
        struct event *event = batch->items[i].event;
        if (batch->items[i].won && event->receipt && !event->receipt->placed) {
            batch->items[i].settled = SETTLE_NOWHERE;
            event->remark = "no-delivery";
        }
    }
    if (batch->n_settles == 0)
        return;
    batch->told = xcalloc(batch->n, sizeof *batch->told);
    for (size_t i = 0; i < batch->n; i++) {
        struct item *item = &batch->items[batch->queue[i]];
        if (names_one(item))
            judge_one(batch, item);
    }
}

static int attempt_of(const struct settle *settle)
{
    if (settle->state == SETTLE_REFUSED)
        return ATTEMPT_REFUSED;
    return settle->state == SETTLE_DUE ? ATTEMPT_RETRY : ATTEMPT_ACCEPTED;
}

static void put_text(struct pg *pg, const char *text)
{
    if (text[0])
        pg_e_bytes(pg, slice_of(text));
    else
        pg_e_null(pg);
}

static void add_moves(struct pg *pg, const struct batch *batch)
{
    const bool only_changed = true;
    pg_add(pg, ACCEPT_RECEIPTS_APPLY);
    SETTLES(pg_p_ints, pg_e_int(pg, settle->place.bucket));
    SETTLES(pg_p_uuids, pg_e_uuid(pg, settle->place.notification));
    SETTLES(pg_p_ints, pg_e_int(pg, (int)settle->channel));
    SETTLES(pg_p_ints, pg_e_int(pg, settle->place.redrive));
    SETTLES(pg_p_ints, pg_e_int(pg, settle->state0));
    SETTLES(pg_p_ints, pg_e_int(pg, settle->tries));
    SETTLES(pg_p_ints, pg_e_int(pg, settle->state));
    SETTLES(pg_p_bigs, settle->again ? pg_e_big(pg, settle->wait_ms) : pg_e_null(pg));
    SETTLES(pg_p_ints,
            settle->state0 == SETTLE_WIRE ? pg_e_int(pg, attempt_of(settle)) : pg_e_null(pg));
    SETTLES(pg_p_texts, put_text(pg, settle->id));
    SETTLES(pg_p_texts, put_text(pg, settle->reason));
}

#define TOLD(which, begin, put)                                                                    \
    do {                                                                                           \
        begin(pg);                                                                                 \
        for (size_t i_ = 0; i_ < batch->n_told; i_++) {                                            \
            const struct told *told = &batch->told[i_];                                            \
            const struct receipt *receipt = told->item->event->receipt;                            \
            (void)receipt;                                                                         \
            if (which(told))                                                                       \
                put;                                                                               \
        }                                                                                          \
    } while (0)

static bool is_known(const struct told *told)
{
    return told->outcome != SETTLE_NOWHERE;
}

static void add_facts(struct pg *pg, const struct batch *batch)
{
    pg_add(pg, ACCEPT_RECEIPTS_PUT);
    TOLD(is_known, pg_p_ints, pg_e_int(pg, receipt->place.bucket));
    TOLD(is_known, pg_p_ints, pg_e_int(pg, (int)receipt->channel));
    TOLD(is_known, pg_p_uuids, pg_e_uuid(pg, receipt->place.notification));
    TOLD(is_known, pg_p_ints, pg_e_int(pg, receipt->place.redrive));
    TOLD(is_known, pg_p_ints, pg_e_int(pg, told->item->source->id));
    TOLD(is_known, pg_p_ints, pg_e_int(pg, (int)receipt->kind));
    TOLD(is_known, pg_p_ints, pg_e_int(pg, (int)told->outcome));
    TOLD(is_known, pg_p_ints, pg_e_int(pg, told->from));
    TOLD(is_known, pg_p_ints, pg_e_int(pg, told->to));
    TOLD(is_known, pg_p_ints, pg_e_int(pg, told->settle->tries));
    TOLD(is_known, pg_p_texts, pg_e_bytes(pg, slice_of(told->item->event->id)));
    TOLD(is_known, pg_p_texts, pg_e_bytes(pg, slice_of(told->item->event->scope)));
    TOLD(is_known, pg_p_texts, put_text(pg, receipt->id));
    TOLD(is_known, pg_p_texts, put_text(pg, receipt->said));
}

// An address that bounces, complains or opts out does so whatever became of the delivery.
static bool suppresses(const struct told *told)
{
    return told->outcome != SETTLE_NOWHERE && told->item->event->receipt->suppress &&
           told->settle->address && told->settle->address[0];
}

static void add_suppressed(struct pg *pg, const struct batch *batch)
{
    pg_add(pg, ACCEPT_RECEIPTS_SUPPRESS);
    TOLD(suppresses, pg_p_ints, pg_e_int(pg, (int)receipt->channel));
    TOLD(suppresses, pg_p_ints, pg_e_int(pg, (int)receipt->suppress));
    TOLD(suppresses, pg_p_texts, pg_e_bytes(pg, slice_of(told->settle->address)));
    TOLD(suppresses, pg_p_texts, pg_e_bytes(pg, slice_of(told->item->source->name)));
}

#define LEAVERS(begin, put)                                                                        \
    do {                                                                                           \
        begin(pg);                                                                                 \
        for (size_t i_ = 0; i_ < batch->n_leavers; i_++) {                                         \
            const struct delivery_place *place = &batch->leavers[i_];                              \
            put;                                                                                   \
        }                                                                                          \
    } while (0)

void receipts_leavers(struct pg *pg, const struct batch *batch)
{
    if (batch->n_leavers == 0)
        return;
    pg_add(pg, ACCEPT_UNSUBSCRIBE);
    LEAVERS(pg_p_ints, pg_e_int(pg, place->bucket));
    LEAVERS(pg_p_uuids, pg_e_uuid(pg, place->notification));
    LEAVERS(pg_p_ints, pg_e_int(pg, place->redrive));
}

void receipts_rows(struct pg *pg, const struct batch *batch)
{
    bool changed = false;
    for (size_t i = 0; i < batch->n_settles; i++)
        changed |= batch->settles[i].changed;
    if (changed)
        add_moves(pg, batch);
    if (batch->n_told)
        add_facts(pg, batch);
    bool suppressed = false;
    for (size_t i = 0; i < batch->n_told; i++)
        suppressed |= suppresses(&batch->told[i]);
    if (suppressed)
        add_suppressed(pg, batch);
}
