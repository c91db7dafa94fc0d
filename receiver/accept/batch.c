#include "receiver/accept/batch.h"

// What only asks for a key comes after those that may take it.
static int order_by_turn(const struct item *a, const struct item *b)
{
    if (a->arrival->asks != b->arrival->asks)
        return a->arrival->asks ? 1 : -1;
    return (a->nth > b->nth) - (a->nth < b->nth);
}

static int order_by_key(const void *left, const void *right)
{
    const struct item *a = left, *b = right;
    if (a->bucket != b->bucket)
        return a->bucket < b->bucket ? -1 : 1;
    int order = strcmp(a->event->id, b->event->id);
    if (order == 0)
        order = (a->source->id > b->source->id) - (a->source->id < b->source->id);
    if (order == 0)
        order = strcmp(a->event->scope, b->event->scope);
    return order ? order : order_by_turn(a, b);
}

static bool same_key(const struct item *a, const struct item *b)
{
    return a->bucket == b->bucket && a->source->id == b->source->id &&
           strcmp(a->event->id, b->event->id) == 0 && strcmp(a->event->scope, b->event->scope) == 0;
}

static int signed_bucket(const struct event *event)
{
    struct key key;
    memcpy(key.bytes, event->signed_digest, sizeof key.bytes);
    return event->unsigned_id ? key_bucket(key) : 0;
}

static void add_items(struct batch *batch, struct arrival *arrival, size_t *room)
{
    const struct source *source = policy_source(batch->policy, slice_of(arrival->source));
    if (!source)
        return;
    for (size_t i = 0; i < arrival->n_events; i++) {
        struct event *event = &arrival->events[i];
        if (i < arrival->n_marks && arrival->marks[i] == EVENT_LEFT_OUT)
            continue;
        if (batch->n == *room) {
            *room = *room ? 2 * *room : 64;
            batch->items = xrealloc(batch->items, *room * sizeof *batch->items);
        }
        struct key key =
                key_event(slice_of(source->name), slice_of(event->scope), slice_of(event->id));
        batch->items[batch->n] = (struct item){.event = event,
                .arrival = arrival,
                .source = source,
                .secret = arrival->secret,
                .bucket = key_bucket(key),
                .signed_bucket = signed_bucket(event),
                .nth = batch->n,
                .order = SIZE_MAX};
        batch->n++;
    }
}

static void add_leaver(struct batch *batch, const struct arrival *arrival)
{
    batch->leavers = xrealloc(batch->leavers, (batch->n_leavers + 1) * sizeof *batch->leavers);
    batch->leavers[batch->n_leavers++] = arrival->place;
}

void batch_init(struct batch *batch, struct policy *policy, struct arrival *arrivals)
{
    *batch = (struct batch){.policy = policy};
    size_t room = 0;
    for (struct arrival *arrival = arrivals; arrival; arrival = arrival->next)
        if (arrival->answer == ANSWER_NONE && arrival->unsubscribes)
            add_leaver(batch, arrival);
        else if (arrival->answer == ANSWER_NONE)
            add_items(batch, arrival, &room);
    if (batch->n == 0)
        return;
    qsort(batch->items, batch->n, sizeof *batch->items, order_by_key);
    batch->queue = xcalloc(batch->n, sizeof *batch->queue);
    for (size_t i = 0; i < batch->n; i++) {
        struct item *item = &batch->items[i];
        bool heads = i == 0 || !same_key(item - 1, item);
        item->leads = heads && !item->arrival->asks;
        // One arrival's copies of a key stand side by side: they were queued together.
        item->again = !heads && item[-1].arrival == item->arrival;
        batch->queue[item->nth] = i;
    }
}

bool batch_keeps(const struct item *item)
{
    return item->won || (item->event->outcome == EVENT_MISMATCH && !item->known);
}

void batch_name_carriers(struct batch *batch)
{
    const struct arrival *last = NULL;
    for (size_t i = 0; i < batch->n; i++) {
        struct item *item = &batch->items[batch->queue[i]];
        bool kept = batch_keeps(item);
        item->carries = kept && item->arrival != last;
        if (kept)
            last = item->arrival;
    }
}

void batch_fini(struct batch *batch)
{
    for (size_t i = 0; i < batch->n_orders; i++)
        run_fini(&batch->orders[i]);
    for (size_t i = 0; i < batch->n_notes; i++) {
        free(batch->notes[i].once);
        free(batch->notes[i].data);
        free(batch->notes[i].contact);
        free(batch->notes[i].collapse);
    }
    for (size_t i = 0; i < batch->n_settles; i++)
        settle_fini(&batch->settles[i]);
    free(batch->settles);
    free(batch->told);
    free(batch->leavers);
    free(batch->items);
    free(batch->queue);
    free(batch->orders);
    free(batch->judgements.rows);
    free(batch->notes);
    *batch = (struct batch){0};
}

static int order_by_signed(const struct item *a, const struct item *b)
{
    if (a->signed_bucket != b->signed_bucket)
        return a->signed_bucket < b->signed_bucket ? -1 : 1;
    int order = memcmp(
            a->event->signed_digest, b->event->signed_digest, sizeof a->event->signed_digest);
    return order ? order : (a->source->id > b->source->id) - (a->source->id < b->source->id);
}

static int order_by_signed_at(const void *left, const void *right, void *items)
{
    const struct item *all = items, *a = &all[*(const size_t *)left],
                      *b = &all[*(const size_t *)right];
    int order = order_by_signed(a, b);
    return order ? order : (a->nth > b->nth) - (a->nth < b->nth);
}

// What may come only once is spent by a repeat of its event, too. Bytes of a whole body are not: by
// a mismatch anybody could spend those of a later event.
static bool spends_signed(const struct item *item)
{
    return item->event->unsigned_id && (item->won || item->arrival->has_once);
}

size_t batch_sort_signed(struct batch *batch, size_t *at)
{
    size_t n = 0;
    for (size_t i = 0; i < batch->n; i++)
        if (spends_signed(&batch->items[i]))
            at[n++] = i;
    if (n)
        qsort_r(at, n, sizeof *at, order_by_signed_at, batch->items);
    for (size_t i = 0; i < n; i++) {
        struct item *item = &batch->items[at[i]];
        item->signed_leads = i == 0 || order_by_signed(&batch->items[at[i - 1]], item) != 0;
        item->replayed = item->won && !item->signed_leads;
    }
    return n;
}

static int order_by_order(const void *left, const void *right)
{
    const struct order_run *a = left, *b = right;
    if (a->bucket != b->bucket)
        return a->bucket < b->bucket ? -1 : 1;
    return strcmp(a->id, b->id);
}

static bool names_an_order(const struct item *item)
{
    return item->won && !item->replayed && item->event->order_id && item->event->to >= 0 &&
           !item->event->parked_reason;
}

static void drop_repeated_orders(struct batch *batch)
{
    size_t kept = 0;
    for (size_t i = 0; i < batch->n_orders; i++)
        if (kept == 0 || order_by_order(&batch->orders[kept - 1], &batch->orders[i]) != 0)
            batch->orders[kept++] = batch->orders[i];
    batch->n_orders = kept;
}

void batch_group_orders(struct batch *batch)
{
    batch->orders = xcalloc(batch->n, sizeof *batch->orders);
    for (size_t i = 0; i < batch->n; i++) {
        if (!names_an_order(&batch->items[i]))
            continue;
        const char *id = batch->items[i].event->order_id;
        batch->orders[batch->n_orders++] =
                (struct order_run){.bucket = key_bucket(key_order(slice_of(id))), .id = id};
    }
    if (batch->n_orders)
        qsort(batch->orders, batch->n_orders, sizeof *batch->orders, order_by_order);
    drop_repeated_orders(batch);
    for (size_t i = 0; i < batch->n; i++) {
        struct item *item = &batch->items[i];
        if (!names_an_order(item))
            continue;
        struct slice id = slice_of(item->event->order_id);
        item->order = batch_find_order(batch, key_bucket(key_order(id)), id);
    }
}

size_t batch_find_order(const struct batch *batch, int bucket, struct slice order_id)
{
    size_t low = 0, high = batch->n_orders;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct order_run *run = &batch->orders[middle];
        int order = run->bucket != bucket ? (run->bucket < bucket ? -1 : 1)
                                          : slice_cmp(slice_of(run->id), order_id);
        if (order == 0)
            return middle;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return SIZE_MAX;
}
