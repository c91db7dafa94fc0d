#include "tests/bench/receive/parcels.h"

#include "common/clock.h"
#include "receiver/accept/accept_sql.h"
#include "tests/bench/receive/parcel_calls.h"

#include <stdio.h>

#define REPEAT_NEAREST 512
#define REPEAT_SPREAD 2048
#define BYTES_AN_EVENT 4096
#define SOURCE_NAME "shop"

// What receiver/http/kept.c keeps of a request of load.c.
#define HEADERS                                                                                    \
    "content-type: application/json\nuser-agent: bench/1\naccept: */*\nwebhook-id: %s\n"           \
    "webhook-timestamp: %lld\nwebhook-signature: sha256:c520a78d57d7\n"

struct maker {
    struct parcels *out;
    const struct parcel_options *options;
    struct row *rows, **by_key, **by_order, **repeats;
    size_t n, n_orders, n_repeats;
    size_t next; // distinct event
    uint64_t random;
    char iso[32];
};

// --- One event

static void fill_row(struct maker *maker, struct row *row, size_t nth, bool repeat)
{
    *row = (struct row){.event = event_nth(maker->options->run, nth), .n = nth, .repeat = repeat};
    struct bench_event *event = &row->event;
    AUTO_TEXT struct text body = {0};
    text_init(&body, EVENT_BODY_MAX - 1);
    event_body(event, maker->iso, &body);
    memcpy(row->body, text_cstr(&body), body.len);
    row->bucket = key_bucket(key_event(SLICE(SOURCE_NAME), SLICE(""), slice_of(event->id)));
    row->order_bucket = key_bucket(key_order(slice_of(event->order)));
    row->arrival = key_random();
    sha256_of(text_slice(&body), row->fp);
    snprintf(row->once, sizeof row->once, "reached-s%d/%s", event->step, event->order);
    row->note = key_notification(slice_of(row->once));
    snprintf(row->contact, sizeof row->contact, "{\"email\":\"%s\"}", event->email);
    snprintf(row->data, sizeof row->data, "{\"total\":\"149.90\"}");
    snprintf(row->note_data, sizeof row->note_data,
            "{\"order\":{\"id\":\"%s\",\"state\":\"s%d\"},\"event\":{\"id\":\"%s\",\"type\":"
            "\"order.s%d\","
            "\"source\":\"shop\"},\"contact\":%s,\"data\":%s}",
            event->order, event->step, event->id, event->step, row->contact, row->data);
    snprintf(row->headers, sizeof row->headers, HEADERS, event->id, (long long)clock_now_s());
}

static int compare(int bucket_a, const char *a, int bucket_b, const char *b)
{
    return bucket_a != bucket_b ? bucket_a - bucket_b : strcmp(a, b);
}

static int by_key(const void *a, const void *b)
{
    const struct row *x = *(struct row *const *)a, *y = *(struct row *const *)b;
    return compare(x->bucket, x->event.id, y->bucket, y->event.id);
}

static int by_order(const void *a, const void *b)
{
    const struct row *x = *(struct row *const *)a, *y = *(struct row *const *)b;
    return compare(x->order_bucket, x->event.order, y->order_bucket, y->event.order);
}

// The next events of the stream: new ones, and of those before as many as asked for.
static void fill_batch(struct maker *maker)
{
    maker->n_orders = maker->n_repeats = 0;
    for (maker->n = 0; maker->n < maker->options->batch; maker->n++) {
        struct row *row = &maker->rows[maker->n];
        maker->random = event_mix(maker->random);
        bool repeat = maker->next > REPEAT_NEAREST &&
                      (int)(maker->random % 100) < maker->options->repeat_percent;
        size_t most = maker->next < REPEAT_NEAREST + REPEAT_SPREAD ? maker->next - REPEAT_NEAREST
                                                                   : REPEAT_SPREAD;
        size_t back = repeat ? REPEAT_NEAREST + (maker->random >> 32) % most : 0;
        if (!repeat && maker->next == maker->options->events)
            break;
        fill_row(maker, row, repeat ? maker->next - back : maker->next++, repeat);
        maker->by_key[maker->n] = row;
        if (repeat)
            maker->repeats[maker->n_repeats++] = row;
        else
            maker->by_order[maker->n_orders++] = row;
    }
    qsort(maker->by_key, maker->n, sizeof(struct row *), by_key);
    qsort(maker->by_order, maker->n_orders, sizeof(struct row *), by_order);
}

// --- Parcels

static void make_parcel(struct maker *maker)
{
    struct parcels *out = maker->out;
    struct parcel parcel = {.n_events = (int)maker->n, .n_orders = (int)maker->n_orders};
    size_t n_new = 0;
    parcel.call[0] = out->n_calls;
    parcel_call(out, CALL_BEGIN);
    parcel_call(out, ACCEPT_SEEN);
    call_keys(out, maker->by_key, maker->n);
    parcel.call[1] = out->n_calls;
    if (maker->n_repeats)
        call_repeats(out, maker->repeats, maker->n_repeats);
    for (size_t i = 0; i < maker->n; i++)
        if (!maker->by_key[i]->repeat)
            maker->by_key[n_new++] = maker->by_key[i];
    if (n_new)
        call_orders(out, maker->by_order, n_new);
    parcel.call[2] = out->n_calls;
    if (n_new) {
        call_update(out, maker->by_order, n_new);
        call_notifications(out, maker->by_order, n_new);
    }
    parcel.call[3] = out->n_calls;
    if (n_new) {
        call_bodies(out, maker->by_key, n_new);
        call_moves(out, maker->by_order, n_new);
        call_deliveries(out, maker->by_order, n_new);
    }
    parcel_call(out, CALL_COMMIT);
    parcel.call[4] = out->n_calls;
    out->items[out->n++] = parcel;
}

struct parcels *parcels_new(const struct parcel_options *options)
{
    struct parcels *out = xcalloc(1, sizeof *out);
    struct maker maker = {.out = out, .options = options, .random = event_mix(options->run)};
    size_t room = options->batch;
    size_t stream = options->events * 100 / (size_t)(101 - options->repeat_percent) * 2 + room;
    text_init(&out->bytes, (options->events + room) * BYTES_AN_EVENT * 2);
    out->items = xcalloc(stream, sizeof *out->items);
    maker.rows = xcalloc(room, sizeof *maker.rows);
    maker.by_key = xcalloc(3 * room, sizeof *maker.by_key);
    maker.by_order = maker.by_key + room;
    maker.repeats = maker.by_key + 2 * room;
    clock_rfc3339(clock_now_us(), maker.iso);
    while (maker.next < options->events) {
        fill_batch(&maker);
        make_parcel(&maker);
    }
    free(maker.rows);
    free(maker.by_key);
    if (out->bytes.overflow)
        abort();
    return out;
}

void parcels_free(struct parcels *parcels)
{
    text_fini(&parcels->bytes);
    free(parcels->params);
    free(parcels->calls);
    free(parcels->items);
    free(parcels);
}
