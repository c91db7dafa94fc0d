#include "receiver/accept/rows.h"

#include "receiver/accept/accept_sql.h"

// One array parameter: `begin` opens it, `put` adds the element of `item`.
#define ITEMS(begin, put)                                                                          \
    do {                                                                                           \
        begin(pg);                                                                                 \
        for (size_t i_ = 0; i_ < pick->n; i_++) {                                                  \
            const struct item *item = &batch->items[pick->at[i_]];                                 \
            put;                                                                                   \
        }                                                                                          \
    } while (0)

static struct slice text_or_null(const char *text)
{
    return text ? slice_of(text) : (struct slice){NULL, 0};
}

static void put_text(struct pg *pg, const char *text)
{
    pg_e_bytes(pg, text_or_null(text));
}

void rows_keys(
        struct pg *pg, const struct batch *batch, const struct pick *pick, int slot, int probe)
{
    pg_add(pg, ACCEPT_KEYS);
    pg_p_int(pg, slot);
    pg_p_int(pg, probe);
    ITEMS(pg_p_ints, pg_e_int(pg, item->bucket));
    ITEMS(pg_p_ints, pg_e_int(pg, item->source->id));
    ITEMS(pg_p_texts, put_text(pg, item->event->id));
    ITEMS(pg_p_texts, put_text(pg, item->event->scope));
    ITEMS(pg_p_byteas, pg_e_bytes(pg, (struct slice){item->event->fingerprint, 32}));
    ITEMS(pg_p_uuids, pg_e_uuid(pg, item->arrival->id));
    ITEMS(pg_p_texts, put_text(pg, item->event->order_id));
}

void rows_replay_keys(
        struct pg *pg, const struct batch *batch, const struct pick *pick, int slot, int probe)
{
    pg_add(pg, ACCEPT_REPLAY);
    pg_p_int(pg, slot);
    pg_p_int(pg, probe);
    ITEMS(pg_p_ints, pg_e_int(pg, item->signed_bucket));
    ITEMS(pg_p_ints, pg_e_int(pg, item->source->id));
    ITEMS(pg_p_byteas, pg_e_bytes(pg, (struct slice){item->event->signed_digest, 32}));
    ITEMS(pg_p_texts, put_text(pg, item->event->id));
    ITEMS(pg_p_texts, put_text(pg, item->event->scope));
}

void rows_replays(
        struct pg *pg, const struct batch *batch, const struct pick *pick, const int slots[3])
{
    pg_add(pg, ACCEPT_REPLAYS);
    for (int i = 0; i < 3; i++)
        pg_p_int(pg, slots[i]);
    ITEMS(pg_p_ints, pg_e_int(pg, (int)(item - batch->items)));
    ITEMS(pg_p_ints, pg_e_int(pg, item->bucket));
    ITEMS(pg_p_ints, pg_e_int(pg, item->source->id));
    ITEMS(pg_p_ints, pg_e_int(pg, item->signed_bucket));
    ITEMS(pg_p_texts, put_text(pg, item->event->id));
    ITEMS(pg_p_texts, put_text(pg, item->event->scope));
    ITEMS(pg_p_bools, pg_e_bool(pg, item->won));
    ITEMS(pg_p_byteas, pg_e_bytes(pg, (struct slice){item->event->signed_digest, 32}));
    ITEMS(pg_p_uuids, pg_e_uuid(pg, item->arrival->id));
    ITEMS(pg_p_texts, put_text(pg, item->secret));
}

void rows_repeats(struct pg *pg, const struct batch *batch, const struct pick *pick,
        const int slots[3], bool run_again)
{
    pg_add(pg, ACCEPT_REPEATS);
    for (int i = 0; i < 3; i++)
        pg_p_int(pg, slots[i]);
    ITEMS(pg_p_ints, pg_e_int(pg, (int)(item - batch->items)));
    ITEMS(pg_p_ints, pg_e_int(pg, item->bucket));
    ITEMS(pg_p_ints, pg_e_int(pg, item->source->id));
    ITEMS(pg_p_texts, put_text(pg, item->event->id));
    ITEMS(pg_p_texts, put_text(pg, item->event->scope));
    ITEMS(pg_p_byteas, pg_e_bytes(pg, (struct slice){item->event->fingerprint, 32}));
    ITEMS(pg_p_uuids, pg_e_uuid(pg, item->arrival->id));
    ITEMS(pg_p_texts, put_text(pg, item->secret));
    ITEMS(pg_p_bools, pg_e_bool(pg, item->again));
    pg_p_bool(pg, run_again);
}

static int move_bucket(const struct item *item)
{
    const char *order_id = item->event->order_id;
    return order_id ? key_bucket(key_order(slice_of(order_id))) : item->bucket;
}

void rows_stored(struct pg *pg, const struct batch *batch, const struct pick *pick)
{
    pg_add(pg, ACCEPT_STORED);
    ITEMS(pg_p_ints, pg_e_int(pg, (int)(item - batch->items)));
    ITEMS(pg_p_ints, pg_e_int(pg, move_bucket(item)));
    ITEMS(pg_p_ints, pg_e_int(pg, item->source->id));
    ITEMS(pg_p_texts, put_text(pg, item->event->order_id));
    ITEMS(pg_p_texts, put_text(pg, item->event->id));
    ITEMS(pg_p_texts, put_text(pg, item->event->scope));
}

static const char *reason_of(const struct event *event)
{
    return event->parked_reason ? event->parked_reason : event->remark;
}

// A batch's body stands in one row of its arrival; the others of its rows have none.
void rows_bodies(struct pg *pg, const struct batch *batch, const struct pick *pick)
{
    pg_add(pg, ACCEPT_BODIES);
    ITEMS(pg_p_ints, pg_e_int(pg, item->bucket));
    ITEMS(pg_p_ints, pg_e_int(pg, item->source->id));
    ITEMS(pg_p_ints, pg_e_int(pg, (int)item->event->outcome));
    ITEMS(pg_p_texts, put_text(pg, item->event->id));
    ITEMS(pg_p_texts, put_text(pg, item->event->scope));
    ITEMS(pg_p_uuids, pg_e_uuid(pg, item->arrival->id));
    ITEMS(pg_p_texts, put_text(pg, item->event->type));
    ITEMS(pg_p_texts, put_text(pg, reason_of(item->event)));
    ITEMS(pg_p_texts, put_text(pg, item->secret));
    ITEMS(pg_p_texts, put_text(pg, item->carries ? item->arrival->headers : NULL));
    ITEMS(pg_p_byteas, pg_e_bytes(pg, item->carries ? item->arrival->body : SLICE("")));
}

#define ORDERS(begin, put)                                                                         \
    do {                                                                                           \
        begin(pg);                                                                                 \
        for (size_t i_ = 0; i_ < batch->n_orders; i_++) {                                          \
            const struct order_run *run = &batch->orders[i_];                                      \
            if (only_changed && !run->changed)                                                     \
                continue;                                                                          \
            put;                                                                                   \
        }                                                                                          \
    } while (0)

void rows_orders(struct pg *pg, const struct batch *batch, int stmt)
{
    const bool only_changed = false;
    pg_add(pg, stmt);
    ORDERS(pg_p_ints, pg_e_int(pg, run->bucket));
    ORDERS(pg_p_texts, put_text(pg, run->id));
}

// What an array literal of numbers is made of.
enum numbers { NUMBERS_DONE, NUMBERS_SOURCES, NUMBERS_LASTS };

static void put_numbers(struct pg *pg, const struct order_run *run, enum numbers which)
{
    AUTO_TEXT struct text literal;
    text_init(&literal, 64 * 1024);
    text_char(&literal, '{');
    size_t n = which == NUMBERS_DONE ? run->n_done : run->n_sequences;
    for (size_t i = 0; i < n; i++) {
        int64_t number = which == NUMBERS_DONE      ? run->done[i]
                         : which == NUMBERS_SOURCES ? run->sequences[i].source
                                                    : run->sequences[i].last;
        text_fmt(&literal, "%s%lld", i ? "," : "", (long long)number);
    }
    text_char(&literal, '}');
    pg_e_bytes(pg, text_slice(&literal));
}

void rows_orders_update(struct pg *pg, const struct batch *batch, size_t *ret_n)
{
    const bool only_changed = true;
    size_t n = 0;
    pg_add(pg, ACCEPT_ORDERS_UPDATE);
    ORDERS(pg_p_ints, (pg_e_int(pg, run->bucket), n++));
    ORDERS(pg_p_texts, put_text(pg, run->id));
    ORDERS(pg_p_ints, pg_e_int(pg, run->version0));
    ORDERS(pg_p_ints, pg_e_int(pg, run->state_id));
    ORDERS(pg_p_ints, pg_e_int(pg, run->version));
    ORDERS(pg_p_ints, pg_e_int(pg, (int)run->open_waits));
    ORDERS(pg_p_texts, put_text(pg, run->contact));
    ORDERS(pg_p_texts, put_text(pg, run->data));
    ORDERS(pg_p_texts, put_numbers(pg, run, NUMBERS_DONE));
    ORDERS(pg_p_texts, put_numbers(pg, run, NUMBERS_SOURCES));
    ORDERS(pg_p_texts, put_numbers(pg, run, NUMBERS_LASTS));
    *ret_n = n;
}

// A waiting event with its order.
struct wait_row {
    const struct order_run *run;
    const struct wait *wait;
};

// The waits of a batch that have a row (or have none yet) and are judged (or are not): a list to
// free().
static size_t list_waits(
        const struct batch *batch, bool stored, bool judged, struct wait_row **ret_rows)
{
    size_t n = 0;
    struct wait_row *rows = NULL;
    for (size_t o = 0; o < batch->n_orders; o++) {
        const struct order_run *run = &batch->orders[o];
        for (size_t w = 0; w < run->n_waits; w++) {
            if (run->waits[w].stored != stored || run->waits[w].judged != judged)
                continue;
            rows = xrealloc(rows, (n + 1) * sizeof *rows);
            rows[n++] = (struct wait_row){run, &run->waits[w]};
        }
    }
    *ret_rows = rows;
    return n;
}

#define WAITS(begin, put)                                                                          \
    do {                                                                                           \
        begin(pg);                                                                                 \
        for (size_t i_ = 0; i_ < n; i_++) {                                                        \
            const struct order_run *run = rows[i_].run;                                            \
            const struct candidate *event = &rows[i_].wait->event;                                 \
            (void)run, (void)event;                                                                \
            put;                                                                                   \
        }                                                                                          \
    } while (0)

int rows_waiting_insert(struct pg *pg, const struct batch *batch)
{
    AUTO_FREE struct wait_row *rows = NULL;
    size_t n = list_waits(batch, false, false, &rows);
    if (n == 0)
        return 0;
    pg_add(pg, ACCEPT_WAITING_INSERT);
    WAITS(pg_p_ints, pg_e_int(pg, run->bucket));
    WAITS(pg_p_ints, pg_e_int(pg, event->source));
    WAITS(pg_p_ints, pg_e_int(pg, event->to_id));
    WAITS(pg_p_ints, pg_e_int(pg, (int)rows[i_].wait->reason));
    WAITS(pg_p_bigs, event->has_sequence ? pg_e_big(pg, event->sequence) : pg_e_null(pg));
    WAITS(pg_p_texts, put_text(pg, run->id));
    WAITS(pg_p_texts, put_text(pg, event->id));
    WAITS(pg_p_texts, put_text(pg, event->scope));
    WAITS(pg_p_texts, put_text(pg, event->type));
    WAITS(pg_p_texts, put_text(pg, event->contact));
    WAITS(pg_p_texts, put_text(pg, event->data));
    return 1;
}

int rows_waiting_delete(struct pg *pg, const struct batch *batch)
{
    AUTO_FREE struct wait_row *rows = NULL;
    size_t n = list_waits(batch, true, true, &rows);
    if (n == 0)
        return 0;
    pg_add(pg, ACCEPT_WAITING_DELETE);
    WAITS(pg_p_ints, pg_e_int(pg, run->bucket));
    WAITS(pg_p_texts, put_text(pg, run->id));
    WAITS(pg_p_texts, put_text(pg, event->id));
    WAITS(pg_p_ints, pg_e_int(pg, event->source));
    WAITS(pg_p_texts, put_text(pg, event->scope));
    return 1;
}
