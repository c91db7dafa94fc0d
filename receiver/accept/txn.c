#include "receiver/accept/txn.h"

#include "common/fault.h"
#include "receiver/accept/accept_sql.h"
#include "receiver/accept/rows.h"

#define KEY_SLOTS 4
#define NO_SLOT (-1)

// A transaction under way.
struct work {
    struct txn *txn;
    struct pg *pg;
    struct batch *batch;
    const struct once_keys *once;
    int64_t deadline_ms;
    struct err *err;
    struct pick leads, won, repeats, kept; // kept: bodies to be stored
    bool run_again;                        // some of it was committed by an earlier try
};

static int slot_of(int64_t gen)
{
    return gen < 0 ? NO_SLOT : (int)(gen % KEY_SLOTS);
}

static bool fly(struct work *work)
{
    return pg_fly(work->pg, work->deadline_ms, work->err);
}

static void pick_add(struct pick *pick, size_t index)
{
    pick->at[pick->n++] = index;
}

// Marks what came back from the key insert: both sides are sorted alike.
static void mark_won(struct work *work, const struct pick *asked, int call)
{
    int row = 0, rows = pg_rows(work->pg, call);
    for (size_t i = 0; i < asked->n; i++) {
        struct item *item = &work->batch->items[asked->at[i]];
        item->won = row < rows && pg_int(work->pg, call, row, 0) == item->bucket &&
                    slice_eq(pg_bytes(work->pg, call, row, 1), slice_of(item->event->id)) &&
                    pg_int(work->pg, call, row, 2) == item->source->id &&
                    slice_eq(pg_bytes(work->pg, call, row, 3), slice_of(item->event->scope));
        row += item->won;
    }
}

static void list_leads(struct work *work)
{
    for (size_t i = 0; i < work->batch->n; i++)
        if (work->batch->items[i].leads)
            pick_add(&work->leads, i);
}

// True when policy version and key generation are what this process worked with; else they are
// taken over.
static bool is_up_to_date(struct work *work, int call)
{
    struct txn *txn = work->txn;
    int version = pg_int(work->pg, call, 0, 0);
    int64_t gen = pg_big(work->pg, call, 0, 1);
    bool overlap = pg_bool(work->pg, call, 0, 2);
    bool same = version == txn->version && gen == txn->gen && overlap == txn->overlap;
    txn->version = version;
    txn->gen = gen;
    txn->overlap = overlap;
    return same;
}

// Flight 1: which policy and generation this is, and the keys: in the normal phase of generation g
// into g, probing g-1; while g overlaps g-1 first into g-1 (probing g-2), and what is new there
// then into g as well (flight 1b).
static bool keys_flight(struct work *work, bool *ret_up_to_date)
{
    struct txn *txn = work->txn;
    int64_t gen = txn->overlap ? txn->gen - 1 : txn->gen;
    pg_add_begin(work->pg);
    pg_add(work->pg, ACCEPT_SEEN);
    rows_keys(work->pg, work->batch, &work->leads, slot_of(gen), slot_of(gen - 1));
    if (!fly(work))
        return false;
    if (pg_rows(work->pg, 1) != 1)
        return err_set(
                work->err, ERR_FATAL, "the schema has no key generation: run 'pawl migrate check'");
    *ret_up_to_date = is_up_to_date(work, 1);
    if (*ret_up_to_date)
        mark_won(work, &work->leads, 2);
    return true;
}

static void list_won(struct work *work)
{
    work->won.n = 0;
    for (size_t i = 0; i < work->leads.n; i++)
        if (work->batch->items[work->leads.at[i]].won)
            pick_add(&work->won, work->leads.at[i]);
}

static bool overlap_flight(struct work *work)
{
    list_won(work);
    if (!work->txn->overlap || work->won.n == 0)
        return true;
    rows_keys(work->pg, work->batch, &work->won, slot_of(work->txn->gen), NO_SLOT);
    if (!fly(work))
        return false;
    struct pick asked = work->won;
    mark_won(work, &asked, 0);
    list_won(work);
    return true;
}

static enum event_outcome first_outcome(const struct item *item)
{
    if (item->event->parked_reason)
        return EVENT_PARKED;
    return item->event->rule && (item->event->to >= 0 || item->event->rule->notify >= 0)
                   ? EVENT_ACCEPTED
                   : EVENT_UNMAPPED;
}

static void sort_out(struct work *work)
{
    for (size_t i = 0; i < work->batch->n; i++) {
        struct item *item = &work->batch->items[i];
        if (item->won)
            item->event->outcome = first_outcome(item);
        else
            pick_add(&work->repeats, i);
    }
}

static void take_repeats(struct work *work, int call)
{
    for (int row = 0; row < pg_rows(work->pg, call); row++) {
        struct item *item = &work->batch->items[pg_int(work->pg, call, row, 0)];
        static const enum event_outcome meaning[] = {
                EVENT_NONE, EVENT_ACCEPTED, EVENT_DUPLICATE, EVENT_MISMATCH};
        item->event->outcome = meaning[pg_int(work->pg, call, row, 1)];
        item->event->age_us = pg_big(work->pg, call, row, 2);
        if (item->event->outcome != EVENT_ACCEPTED)
            continue;
        item->event->outcome = first_outcome(item);
        work->run_again = true;
    }
}

static void take_stored(struct work *work, int call)
{
    for (int row = 0; row < pg_rows(work->pg, call); row++) {
        struct item *item = &work->batch->items[pg_int(work->pg, call, row, 0)];
        item->event->move = (enum move_outcome)pg_int(work->pg, call, row, 1);
    }
}

static void take_order(struct work *work, int call, int row, struct order_run *run)
{
    const struct pg *pg = work->pg;
    run->state_id = pg_int(pg, call, row, 2);
    run->version0 = run->version = pg_int(pg, call, row, 3);
    run->stored_waiting = pg_int(pg, call, row, 4);
    run->n_done = pg_array_len(pg, call, row, 5);
    run->done = xcalloc(run->n_done, sizeof *run->done);
    for (size_t i = 0; i < run->n_done; i++)
        run->done[i] = (int)pg_array_big(pg, call, row, 5, i);
    run->n_sequences = pg_array_len(pg, call, row, 6);
    run->sequences = xcalloc(run->n_sequences, sizeof *run->sequences);
    for (size_t i = 0; i < run->n_sequences; i++)
        run->sequences[i] = (struct last_sequence){
                (int)pg_array_big(pg, call, row, 6, i), pg_array_big(pg, call, row, 7, i)};
    run->contact = slice_dup(pg_bytes(pg, call, row, 8));
    run->data = slice_dup(pg_bytes(pg, call, row, 9));
}

static bool take_orders(struct work *work, int call)
{
    if (pg_rows(work->pg, call) != (int)work->batch->n_orders)
        return err_set(work->err, ERR_TEMP, "locked %d of %zu orders", pg_rows(work->pg, call),
                work->batch->n_orders);
    for (size_t i = 0; i < work->batch->n_orders; i++)
        take_order(work, call, (int)i, &work->batch->orders[i]);
    return true;
}

// Flight 2, in statements of their own after the keys: the repeats are judged against the rows that
// won, and the orders of what won are made where they lack and locked in key order.
static bool orders_flight(struct work *work)
{
    struct txn *txn = work->txn;
    int call = 0, repeats = -1, lock = -1;
    batch_group_orders(work->batch);
    if (work->repeats.n) {
        int slots[3] = {slot_of(txn->gen), slot_of(txn->gen - 1),
                txn->overlap ? slot_of(txn->gen - 2) : NO_SLOT};
        rows_repeats(work->pg, work->batch, &work->repeats, slots);
        repeats = call++;
        rows_stored(work->pg, work->batch, &work->repeats);
        call++;
    }
    if (work->batch->n_orders) {
        rows_orders(work->pg, work->batch, ACCEPT_PLACEHOLDERS);
        rows_orders(work->pg, work->batch, ACCEPT_ORDERS_LOCK);
        lock = call + 1;
        call += 2;
    }
    if (call == 0)
        return true;
    if (!fly(work))
        return false;
    if (repeats >= 0) {
        take_repeats(work, repeats);
        take_stored(work, repeats + 1);
    }
    return lock < 0 || take_orders(work, lock);
}

static const char *dup_bytes(struct work *work, int row, int col, char **list)
{
    return list[col - 5] = slice_dup(pg_bytes(work->pg, 0, row, col));
}

static void take_wait(struct work *work, int row)
{
    const struct pg *pg = work->pg;
    struct batch *batch = work->batch;
    size_t order = batch_find_order(batch, pg_int(pg, 0, row, 0), pg_bytes(pg, 0, row, 1));
    if (order == SIZE_MAX)
        return;
    int to_id = pg_int(pg, 0, row, 3);
    int to = flow_state_by_id(&batch->policy->flow, to_id);
    char *texts[5] = {0};
    struct candidate event = {.source = pg_int(pg, 0, row, 2),
            .to = to < 0 ? STATE_FOREIGN : to,
            .to_id = to_id,
            .has_sequence = !pg_null(pg, 0, row, 4),
            .id = dup_bytes(work, row, 5, texts),
            .scope = dup_bytes(work, row, 6, texts),
            .type = dup_bytes(work, row, 7, texts),
            .contact = dup_bytes(work, row, 8, texts),
            .data = dup_bytes(work, row, 9, texts)};
    if (event.has_sequence)
        event.sequence = pg_big(pg, 0, row, 4);
    run_add_stored_wait(&batch->orders[order], &event);
    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        free(texts[i]);
}

// Flight 2b, only if an order has waiting events: read after the lock, so that none is missed.
static bool waiting_flight(struct work *work)
{
    bool any = false;
    for (size_t i = 0; i < work->batch->n_orders; i++)
        any |= work->batch->orders[i].stored_waiting > 0;
    if (!any)
        return true;
    rows_orders(work->pg, work->batch, ACCEPT_WAITING);
    if (!fly(work))
        return false;
    for (int row = 0; row < pg_rows(work->pg, 0); row++)
        take_wait(work, row);
    return true;
}

static void mark_made(struct work *work, int call)
{
    int row = 0, rows = pg_rows(work->pg, call);
    for (size_t i = 0; i < work->batch->n_notes; i++) {
        struct note *note = &work->batch->notes[i];
        struct key id = row < rows ? pg_uuid(work->pg, call, row, 1) : (struct key){{0}};
        note->made = row < rows && memcmp(id.bytes, note->id.bytes, KEY_BYTES) == 0;
        row += note->made;
    }
}

// Flight 3: what the judgements changed, and the intents they owe.
static bool changes_flight(struct work *work)
{
    if (work->batch->judgements.n == 0)
        return true;
    size_t changed = 0;
    rows_orders_update(work->pg, work->batch, &changed);
    rows_waiting_insert(work->pg, work->batch);
    rows_waiting_delete(work->pg, work->batch);
    rows_notifications(work->pg, work->batch);
    if (!fly(work))
        return false;
    if (pg_affected(work->pg, 0) != (int)changed)
        return err_set(
                work->err, ERR_TEMP, "updated %d of %zu orders", pg_affected(work->pg, 0), changed);
    mark_made(work, 3);
    return true;
}

// A copy in the same batch as its first is told that one's judgement: the stored moves were read
// before it was made.
static void share_moves(struct batch *batch)
{
    const struct event *first = NULL;
    for (size_t i = 0; i < batch->n; i++) {
        struct event *event = batch->items[i].event;
        if (batch->items[i].leads)
            first = event;
        else if (first && event->outcome == EVENT_DUPLICATE && event->move == MOVE_NONE)
            event->move = first->move;
    }
}

// Flight 4: facts, deliveries of the new intents, COMMIT.
static bool commit_flight(struct work *work)
{
    for (size_t i = 0; i < work->batch->n; i++) {
        const struct item *item = &work->batch->items[i];
        if (item->won || item->event->outcome == EVENT_MISMATCH)
            pick_add(&work->kept, i);
    }
    if (work->kept.n)
        rows_bodies(work->pg, work->batch, &work->kept);
    if (work->batch->judgements.n) {
        rows_moves(work->pg, work->batch);
        rows_deliveries(work->pg, work->batch);
    }
    if (work->run_again)
        pg_add(work->pg, ACCEPT_ANCHOR);
    pg_add_commit(work->pg);
    return fly(work);
}

static bool run_flights(struct work *work, bool *ret_up_to_date)
{
    FAULT_STEP(accept_before_begin);
    if (!keys_flight(work, ret_up_to_date))
        return false;
    if (!*ret_up_to_date)
        return true;
    FAULT_STEP(accept_after_keys);
    if (!overlap_flight(work))
        return false;
    sort_out(work);
    if (!orders_flight(work) || !waiting_flight(work))
        return false;
    FAULT_STEP(accept_after_lock);
    if (!batch_judge(work->batch, work->once, work->err) || !changes_flight(work))
        return false;
    share_moves(work->batch);
    FAULT_STEP(accept_before_commit);
    return commit_flight(work);
}

static enum txn_end end_of_failure(struct work *work)
{
    struct pg *pg = work->pg;
    if (pg_commit_unknown(pg))
        return TXN_LOST;
    enum pg_failure failure = pg_failure_of(pg);
    bool from_server = pg_sqlstate(pg)[0] != '\0';
    if (!pg_alive(pg) || !pg_rollback(pg) || !from_server)
        return TXN_FAILED;
    return failure == PGF_DATA ? TXN_BAD_DATA : failure == PGF_AGAIN ? TXN_AGAIN : TXN_FAILED;
}

static enum txn_end run_once(struct work *work)
{
    bool up_to_date = false;
    if (!run_flights(work, &up_to_date))
        return end_of_failure(work);
    if (!up_to_date)
        return pg_rollback(work->pg) ? TXN_OUTDATED : TXN_FAILED;
    if (!pg_committed(work->pg)) {
        err_set(work->err, ERR_TEMP, "the commit was not confirmed as the setup demands");
        return TXN_FAILED;
    }
    FAULT_STEP(accept_after_commit);
    return TXN_DONE;
}

enum txn_end txn_run(struct txn *txn, struct batch *batch, const struct once_keys *once,
        int64_t deadline_ms, struct err *err)
{
    size_t *room = xcalloc(4 * batch->n, sizeof *room);
    struct work work = {.txn = txn,
            .pg = txn->pg,
            .batch = batch,
            .once = once,
            .deadline_ms = deadline_ms,
            .err = err,
            .leads = {room, 0},
            .won = {room + batch->n, 0},
            .repeats = {room + 2 * batch->n, 0},
            .kept = {room + 3 * batch->n, 0}};
    list_leads(&work);
    enum txn_end end = run_once(&work);
    free(room);
    return end;
}
