#include "receiver/accept/results.h"

void results_won(struct work *work, const struct pick *asked, int call)
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

// Both sides are sorted alike; what is not new is looked at again, as every repeat is anyway.
void results_signed(struct work *work, const struct pick *asked, int call, struct pick *ret_fresh)
{
    int row = 0, rows = pg_rows(work->pg, call);
    for (size_t i = 0; i < asked->n; i++) {
        const struct item *item = &work->batch->items[asked->at[i]];
        bool fresh = row < rows && pg_int(work->pg, call, row, 0) == item->signed_bucket &&
                     slice_eq(pg_bytes(work->pg, call, row, 1),
                             (struct slice){item->event->signed_digest, 32}) &&
                     pg_int(work->pg, call, row, 2) == item->source->id;
        row += fresh;
        if (fresh || item->won)
            pick_add(fresh ? ret_fresh : &work->suspects, asked->at[i]);
    }
}

void results_replays(struct work *work, int call)
{
    for (int row = 0; row < pg_rows(work->pg, call); row++) {
        struct item *item = &work->batch->items[pg_int(work->pg, call, row, 0)];
        item->replayed = true;
        item->event->age_us = pg_big(work->pg, call, row, 1);
        if (item->won)
            event_clear_meaning(item->event);
    }
}

bool results_up_to_date(struct work *work, int call)
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

enum event_outcome first_outcome(const struct item *item)
{
    if (item->replayed)
        return EVENT_REPLAY;
    if (item->event->parked_reason)
        return EVENT_PARKED;
    if (item->event->late)
        return EVENT_LATE;
    return item->event->rule && (item->event->to >= 0 || item->event->rule->notify >= 0)
                   ? EVENT_ACCEPTED
                   : EVENT_UNMAPPED;
}

// What its sender is told is what the key says: the policy of now may read another order, or none.
// An own one is unmapped until a move of it is found.
static void take_told(struct work *work, size_t index, struct slice order_id)
{
    struct event *event = work->batch->items[index].event;
    if (event->outcome == EVENT_MISMATCH)
        return;
    free(event->order_id);
    event->order_id = order_id.ptr ? slice_dup(order_id) : NULL;
    if (event->outcome != EVENT_DUPLICATE)
        event->outcome = EVENT_UNMAPPED;
    pick_add(&work->told, index);
}

void results_repeats(struct work *work, int call)
{
    for (int row = 0; row < pg_rows(work->pg, call); row++) {
        size_t index = (size_t)pg_int(work->pg, call, row, 0);
        struct item *item = &work->batch->items[index];
        static const enum event_outcome meaning[] = {
                EVENT_NONE, EVENT_ACCEPTED, EVENT_DUPLICATE, EVENT_MISMATCH};
        item->event->outcome = meaning[pg_int(work->pg, call, row, 1)];
        item->event->age_us = pg_big(work->pg, call, row, 2);
        item->known = pg_bool(work->pg, call, row, 3);
        if (item->event->outcome == EVENT_ACCEPTED) {
            item->event->outcome = first_outcome(item);
            work->run_again = true;
        }
        if (item->told)
            take_told(work, index,
                    pg_null(work->pg, call, row, 4) ? (struct slice){0}
                                                    : pg_bytes(work->pg, call, row, 4));
    }
}

void results_stored(struct work *work, int call)
{
    for (int row = 0; row < pg_rows(work->pg, call); row++) {
        struct item *item = &work->batch->items[pg_int(work->pg, call, row, 0)];
        item->event->move = (enum move_outcome)pg_int(work->pg, call, row, 1);
        if (item->event->outcome == EVENT_UNMAPPED)
            item->event->outcome = EVENT_ACCEPTED;
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

bool results_orders(struct work *work, int call)
{
    if (pg_rows(work->pg, call) != (int)work->batch->n_orders)
        return err_set(work->err, ERR_TEMP, "locked %d of %zu orders", pg_rows(work->pg, call),
                work->batch->n_orders);
    for (size_t i = 0; i < work->batch->n_orders; i++)
        take_order(work, call, (int)i, &work->batch->orders[i]);
    return true;
}

static const char *dup_bytes(struct work *work, int row, int col, char **list)
{
    return list[col - 5] = slice_dup(pg_bytes(work->pg, 0, row, col));
}

void results_wait(struct work *work, int row)
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

void results_made(struct work *work, int call)
{
    int row = 0, rows = pg_rows(work->pg, call);
    for (size_t i = 0; i < work->batch->n_notes; i++) {
        struct note *note = &work->batch->notes[i];
        struct key id = row < rows ? pg_uuid(work->pg, call, row, 1) : (struct key){{0}};
        note->made = row < rows && memcmp(id.bytes, note->id.bytes, KEY_BYTES) == 0;
        row += note->made;
    }
}
