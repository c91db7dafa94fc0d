#include "receiver/accept/txn.h"

#include "common/fault.h"
#include "receiver/accept/accept_sql.h"
#include "receiver/accept/receipts.h"
#include "receiver/accept/results.h"

#define KEY_SLOTS 4
#define NO_SLOT (-1)

static int slot_of(int64_t gen)
{
    return gen < 0 ? NO_SLOT : (int)(gen % KEY_SLOTS);
}

static bool fly(struct work *work)
{
    return pg_fly(work->pg, work->deadline_ms, work->err);
}

static void list_leads(struct work *work)
{
    for (size_t i = 0; i < work->batch->n; i++)
        if (work->batch->items[i].leads)
            pick_add(&work->leads, i);
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
    *ret_up_to_date = results_up_to_date(work, 1);
    if (*ret_up_to_date)
        results_won(work, &work->leads, 2);
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
    results_won(work, &asked, 0);
    list_won(work);
    return true;
}

// Bytes already known go no further; during the overlap what is new in g-1 goes into g as well.
static bool put_signed(struct work *work, const struct pick *asked, int slot, int probe)
{
    struct pick *fresh = &work->fresh;
    fresh->n = 0;
    if (asked->n == 0)
        return true;
    rows_replay_keys(work->pg, work->batch, asked, slot, probe);
    if (!fly(work))
        return false;
    results_signed(work, asked, 0, fresh);
    return true;
}

// What came with bytes that are known: sorted out by a statement of its own. Copies that did not
// win their key are asked for too: one may be the replay of a transaction run again.
static void list_suspects(struct work *work)
{
    for (size_t i = 0; i < work->batch->n; i++) {
        const struct item *item = &work->batch->items[i];
        if (item->event->unsigned_id && (!item->won || !item->signed_leads))
            pick_add(&work->suspects, i);
    }
}

// Flights 1c and 1d, for schemes whose id is outside the signature: the keys of the signed bytes,
// and whose they were if they were not new.
static bool signed_flights(struct work *work)
{
    struct txn *txn = work->txn;
    int64_t gen = txn->overlap ? txn->gen - 1 : txn->gen;
    size_t n = batch_sort_signed(work->batch, work->bytes.at);
    for (size_t i = 0; i < n; i++)
        if (work->batch->items[work->bytes.at[i]].signed_leads)
            pick_add(&work->bytes, work->bytes.at[i]);
    if (!put_signed(work, &work->bytes, slot_of(gen), slot_of(gen - 1)))
        return false;
    if (txn->overlap) {
        memcpy(work->bytes.at, work->fresh.at, work->fresh.n * sizeof *work->fresh.at);
        work->bytes.n = work->fresh.n;
        if (!put_signed(work, &work->bytes, slot_of(txn->gen), NO_SLOT))
            return false;
    }
    list_suspects(work);
    if (work->suspects.n == 0)
        return true;
    int slots[3] = {slot_of(txn->gen), slot_of(txn->gen - 1),
            txn->overlap ? slot_of(txn->gen - 2) : NO_SLOT};
    rows_replays(work->pg, work->batch, &work->suspects, slots);
    if (!fly(work))
        return false;
    results_replays(work, 0);
    return true;
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

// Flight 2, in statements of their own after the keys: the repeats are judged against the rows that
// won, and the orders of what won are made where they lack and locked in key order.
static bool orders_flight(struct work *work)
{
    struct txn *txn = work->txn;
    int call = 0, repeats = -1, lock = -1, receipts = -1;
    batch_group_orders(work->batch);
    receipts_group(work->batch);
    if (work->repeats.n) {
        int slots[3] = {slot_of(txn->gen), slot_of(txn->gen - 1),
                txn->overlap ? slot_of(txn->gen - 2) : NO_SLOT};
        rows_repeats(work->pg, work->batch, &work->repeats, slots, txn->run_again);
        repeats = call++;
    }
    if (work->batch->n_orders) {
        rows_orders(work->pg, work->batch, ACCEPT_PLACEHOLDERS);
        rows_orders(work->pg, work->batch, ACCEPT_ORDERS_LOCK);
        lock = call + 1;
        call += 2;
    }
    if (work->batch->n_settles) {
        receipts_lock_rows(work->pg, work->batch);
        receipts = call++;
    }
    if (call == 0)
        return true;
    if (!fly(work))
        return false;
    if (repeats >= 0)
        results_repeats(work, repeats);
    if (receipts >= 0)
        receipts_locked(work, receipts);
    return lock < 0 || results_orders(work, lock);
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
        results_wait(work, row);
    return true;
}

// Flight 3: what the judgements changed, and the intents they owe.
static bool changes_flight(struct work *work)
{
    if (work->batch->judgements.n == 0)
        return true;
    size_t changed = 0;
    rows_orders_update(work->pg, work->batch, &changed);
    int notes = 1 + rows_waiting_insert(work->pg, work->batch) +
                rows_waiting_delete(work->pg, work->batch);
    rows_notifications(work->pg, work->batch);
    if (!fly(work))
        return false;
    if (pg_affected(work->pg, 0) != (int)changed)
        return err_set(
                work->err, ERR_TEMP, "updated %d of %zu orders", pg_affected(work->pg, 0), changed);
    results_made(work, notes);
    return true;
}

// The facts that are judgements, then what a repeat is told: its first may be of this batch.
// Returns the number of the statement that says it, -1 = none.
static int moves_and_told(struct work *work)
{
    if (work->batch->judgements.n)
        rows_moves(work->pg, work->batch);
    if (work->told.n == 0)
        return -1;
    rows_stored(work->pg, work->batch, &work->told);
    return work->batch->judgements.n ? 1 : 0;
}

// Flight 4: facts, deliveries of the new intents, COMMIT.
static bool commit_flight(struct work *work)
{
    int told = moves_and_told(work);
    batch_name_carriers(work->batch);
    for (size_t i = 0; i < work->batch->n; i++)
        if (batch_keeps(&work->batch->items[i]))
            pick_add(&work->kept, i);
    if (work->kept.n)
        rows_bodies(work->pg, work->batch, &work->kept);
    if (work->batch->judgements.n)
        rows_deliveries(work->pg, work->batch);
    receipts_rows(work->pg, work->batch);
    receipts_leavers(work->pg, work->batch);
    // Who unsubscribes may be on the list already, by a commit that nobody confirmed.
    if (work->txn->run_again || work->run_again || work->batch->n_leavers > 0)
        pg_add(work->pg, ACCEPT_ANCHOR);
    if (!work->txn->trial)
        pg_add_commit(work->pg);
    if (!fly(work))
        return false;
    if (told >= 0)
        results_stored(work, told);
    return true;
}

static bool run_flights(struct work *work, bool *ret_up_to_date)
{
    FAULT_STEP(accept_before_begin);
    if (!keys_flight(work, ret_up_to_date))
        return false;
    if (!*ret_up_to_date)
        return true;
    FAULT_STEP(accept_after_keys);
    if (!overlap_flight(work) || !signed_flights(work))
        return false;
    sort_out(work);
    if (!orders_flight(work) || !waiting_flight(work))
        return false;
    FAULT_STEP(accept_after_lock);
    if (!batch_judge(work->batch, work->once, work->err) || !changes_flight(work))
        return false;
    receipts_judge(work->batch);
    FAULT_STEP(accept_before_commit);
    return commit_flight(work);
}

static enum txn_end end_of_failure(struct work *work)
{
    struct pg *pg = work->pg;
    if (pg_commit_unknown(pg))
        return TXN_LOST;
    enum pg_failure failure = pg_failure_of(pg);
    bool from_server = pg_sqlstate(pg)[0] != '\0', too_large = pg_too_large(pg);
    if (!pg_alive(pg) || !pg_rollback(pg))
        return TXN_FAILED;
    if (too_large)
        return TXN_BAD_DATA;
    if (!from_server)
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
    if (work->txn->trial)
        return pg_rollback(work->pg) ? TXN_DONE : TXN_FAILED;
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
    size_t *room = xcalloc(8 * batch->n + 1, sizeof *room); // a batch may hold no event at all
    struct work work = {.txn = txn,
            .pg = txn->pg,
            .batch = batch,
            .once = once,
            .deadline_ms = deadline_ms,
            .err = err,
            .leads = {room, 0},
            .won = {room + batch->n, 0},
            .repeats = {room + 2 * batch->n, 0},
            .kept = {room + 3 * batch->n, 0},
            .bytes = {room + 4 * batch->n, 0},
            .fresh = {room + 5 * batch->n, 0},
            .suspects = {room + 6 * batch->n, 0},
            .told = {room + 7 * batch->n, 0}};
    list_leads(&work);
    enum txn_end end = run_once(&work);
    free(room);
    return end;
}
