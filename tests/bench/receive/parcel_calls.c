#include "tests/bench/receive/parcel_calls.h"

#include "common/pg/wire.h"
#include "receiver/accept/accept_sql.h"

#define SLOT_NOW 1 // of key generation 1, as migrations leave it
#define SLOT_BEFORE 0
#define SOURCE 1 // numbers of the first policy's only source, channel and lane
#define EMAIL 1
#define LANE 11
#define OUTCOME_APPLIED 1
#define POLICY 1
#define RETRY_MS (24 * 3600 * 1000)

// --- Calls and parameters

void parcel_call(struct parcels *out, int stmt)
{
    if (out->n_calls == out->calls_room) {
        out->calls_room = 2 * out->calls_room + 1024;
        out->calls = xrealloc(out->calls, out->calls_room * sizeof *out->calls);
    }
    out->calls[out->n_calls++] = (struct parcel_call){stmt, out->n_params, 0};
}

static void param(struct parcels *out, size_t offset, int len)
{
    if (out->n_params == out->params_room) {
        out->params_room = 2 * out->params_room + 4096;
        out->params = xrealloc(out->params, out->params_room * sizeof *out->params);
    }
    out->params[out->n_params++] = (struct parcel_param){offset, len};
    out->calls[out->n_calls - 1].n_params++;
}

static void one_int(struct parcels *out, int32_t v)
{
    unsigned char bytes[4];
    wire_put32(bytes, (uint32_t)v);
    text_add(&out->bytes, (struct slice){bytes, sizeof bytes});
    param(out, out->bytes.len - sizeof bytes, sizeof bytes);
}

static void put_int(struct wire_array *array, struct text *out, int v)
{
    unsigned char bytes[4];
    wire_put32(bytes, (uint32_t)v);
    wire_element(array, (struct slice){bytes, sizeof bytes}, out);
}

static void put_big(struct wire_array *array, struct text *out, int64_t v)
{
    unsigned char bytes[8];
    wire_put64(bytes, (uint64_t)v);
    wire_element(array, (struct slice){bytes, sizeof bytes}, out);
}

// One array parameter over `list`: `put` appends the element of `row`.
#define COLUMN(type, list, count, put)                                                             \
    do {                                                                                           \
        struct wire_array array_, *array = &array_;                                                \
        struct text *bytes = &out->bytes;                                                          \
        wire_begin(array, type, bytes);                                                            \
        for (size_t i_ = 0; i_ < (count); i_++) {                                                  \
            const struct row *row = (list)[i_];                                                    \
            (void)row;                                                                             \
            put;                                                                                   \
        }                                                                                          \
        wire_end(array, bytes);                                                                    \
        param(out, array->start, (int)(bytes->len - array->start));                                \
    } while (0)
#define INTS(v) COLUMN(WIRE_INT4, list, n, put_int(array, bytes, v))
#define BIGS(v) COLUMN(WIRE_INT8, list, n, put_big(array, bytes, v))
#define NULLS(type) COLUMN(type, list, n, wire_null(array, bytes))
#define TEXTS(v) COLUMN(WIRE_TEXT, list, n, wire_element(array, slice_of(v), bytes))
#define UUIDS(v)                                                                                   \
    COLUMN(WIRE_UUID, list, n, wire_element(array, ((struct slice){(v).bytes, KEY_BYTES}), bytes))
#define FPS COLUMN(WIRE_BYTEA, list, n, wire_element(array, ((struct slice){row->fp, 32}), bytes))

// --- The statements, parameter by parameter as in receiver/accept/rows.c and rows_out.c

void call_keys(struct parcels *out, struct row **list, size_t n)
{
    parcel_call(out, ACCEPT_KEYS);
    one_int(out, SLOT_NOW);
    one_int(out, SLOT_BEFORE);
    INTS(row->bucket);
    INTS(SOURCE);
    TEXTS(row->event.id);
    TEXTS("");
    FPS;
    UUIDS(row->arrival);
    TEXTS(row->event.order);
}

void call_repeats(struct parcels *out, struct row **list, size_t n)
{
    static const unsigned char no = 0;
    parcel_call(out, ACCEPT_REPEATS);
    one_int(out, SLOT_NOW);
    one_int(out, SLOT_BEFORE);
    one_int(out, -1);
    INTS((int)i_);
    INTS(row->bucket);
    INTS(SOURCE);
    TEXTS(row->event.id);
    TEXTS("");
    FPS;
    UUIDS(row->arrival);
    TEXTS("shop");
    COLUMN(WIRE_BOOL, list, n, wire_element(array, ((struct slice){&no, 1}), bytes));
    text_add(&out->bytes, (struct slice){&no, 1});
    param(out, out->bytes.len - 1, 1);
}

void call_orders(struct parcels *out, struct row **list, size_t n)
{
    for (int second = 0; second < 2; second++) {
        parcel_call(out, second ? ACCEPT_ORDERS_LOCK : ACCEPT_PLACEHOLDERS);
        INTS(row->order_bucket);
        TEXTS(row->event.order);
    }
}

void call_update(struct parcels *out, struct row **list, size_t n)
{
    static const char *const done[] = {"{}", "{1}", "{1,2}", "{1,2,3}", "{1,2,3,4}"};
    parcel_call(out, ACCEPT_ORDERS_UPDATE);
    INTS(row->order_bucket);
    TEXTS(row->event.order);
    INTS(row->event.step - 1);
    INTS(row->event.step);
    INTS(row->event.step);
    INTS(0);
    TEXTS(row->contact);
    TEXTS(row->data);
    TEXTS(done[row->event.step]);
    TEXTS("{}");
    TEXTS("{}");
}

void call_notifications(struct parcels *out, struct row **list, size_t n)
{
    parcel_call(out, ACCEPT_NOTIFICATIONS);
    INTS(row->order_bucket);
    INTS(row->event.step);
    INTS(row->event.step);
    UUIDS(row->note);
    INTS(SOURCE);
    TEXTS(row->once);
    TEXTS(row->event.order);
    TEXTS(row->event.id);
    TEXTS("");
    TEXTS(row->note_data);
    one_int(out, POLICY);
}

void call_bodies(struct parcels *out, struct row **list, size_t n)
{
    parcel_call(out, ACCEPT_BODIES);
    INTS(row->bucket);
    INTS(SOURCE);
    INTS(1);
    TEXTS(row->event.id);
    TEXTS("");
    UUIDS(row->arrival);
    TEXTS("order.s1");
    NULLS(WIRE_TEXT);
    TEXTS("shop");
    TEXTS(row->headers);
    COLUMN(WIRE_BYTEA, list, n, wire_element(array, slice_of(row->body), bytes));
}

static void put_made(struct wire_array *array, struct text *bytes, const struct row *row)
{
    char literal[KEY_HEX + 2] = "{";
    key_hex(row->note, literal + 1);
    literal[KEY_HEX] = '}';
    literal[KEY_HEX + 1] = '\0';
    wire_element(array, slice_of(literal), bytes);
}

void call_moves(struct parcels *out, struct row **list, size_t n)
{
    parcel_call(out, ACCEPT_MOVES);
    INTS(row->order_bucket);
    INTS(SOURCE);
    INTS(OUTCOME_APPLIED);
    INTS(row->event.step - 1);
    INTS(row->event.step);
    INTS(row->event.step);
    INTS((int)i_);
    TEXTS(row->event.order);
    TEXTS(row->event.id);
    TEXTS("");
    NULLS(WIRE_INT8);
    COLUMN(WIRE_TEXT, list, n, put_made(array, bytes, row));
    one_int(out, POLICY);
}

void call_deliveries(struct parcels *out, struct row **list, size_t n)
{
    parcel_call(out, ACCEPT_DELIVERIES);
    INTS(row->order_bucket);
    INTS(EMAIL);
    UUIDS(row->note);
    INTS(0);
    INTS(2);
    INTS(LANE);
    TEXTS(row->event.email);
    NULLS(WIRE_TEXT);
    NULLS(WIRE_TEXT);
    NULLS(WIRE_INT8);
    BIGS(RETRY_MS);
    TEXTS("");
    NULLS(WIRE_TEXT);
    NULLS(WIRE_TEXT);
    INTS(row->event.step);
    parcel_call(out, ACCEPT_DUE);
    INTS(row->order_bucket);
    INTS(LANE);
    UUIDS(row->note);
    INTS(EMAIL);
    BIGS(0);
    TEXTS("");
}
