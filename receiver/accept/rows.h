// rows.h: puts the rows of a batch into the statements of its transaction, column by column.
#pragma once
#include "common/pg/pg.h"
#include "receiver/accept/batch.h"

// Some of a batch's items, by index, in an order of its own.
struct pick {
    size_t *at;
    size_t n;
};

void rows_keys(
        struct pg *pg, const struct batch *batch, const struct pick *pick, int slot, int probe);
void rows_replay_keys(
        struct pg *pg, const struct batch *batch, const struct pick *pick, int slot, int probe);
void rows_replays(
        struct pg *pg, const struct batch *batch, const struct pick *pick, const int slots[3]);
void rows_repeats(struct pg *pg, const struct batch *batch, const struct pick *pick,
        const int slots[3], bool run_again);
void rows_stored(struct pg *pg, const struct batch *batch, const struct pick *pick);
void rows_bodies(struct pg *pg, const struct batch *batch, const struct pick *pick);
void rows_orders(struct pg *pg, const struct batch *batch, int stmt); // placeholders, lock, waiting
void rows_orders_update(struct pg *pg, const struct batch *batch, size_t *ret_n);
// The number of statements added: none when there are no such rows.
int rows_waiting_insert(struct pg *pg, const struct batch *batch);
int rows_waiting_delete(struct pg *pg, const struct batch *batch);
void rows_moves(struct pg *pg, const struct batch *batch);
void rows_notifications(struct pg *pg, const struct batch *batch);
// Deliveries and their due rows, for the notes that were made.
void rows_deliveries(struct pg *pg, const struct batch *batch);
