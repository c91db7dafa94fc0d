// Fuzzes the step from body to events. Not built by default; from the root:
//   clang-14 -std=gnu17 -D_GNU_SOURCE -g -O1 -fsanitize=fuzzer,address,undefined -I. common/base.c
//   common/err.c common/text.c common/utf8.c common/keys.c common/json/*.c common/config/*.c
//   common/form.c receiver/arrival.c receiver/accept/read*.c
//   tests/fuzz/read_fuzz.c -lcrypto -lyaml -o read_fuzz
//   ./read_fuzz -max_total_time=60 -max_len=4096
// Properties: always an event with a printable id, scope and order; a parked one means nothing; the
// fields are JSON.
#include "receiver/accept/read.h"

#include "common/json/scan.h"
#include <assert.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char name[] = "s", a[] = "a", b[] = "b", order[] = "/o", by[] = "/b", n[] = "/n",
            deep[] = "/c/0/d";
static struct field fields[] = {{a, order}, {b, deep}};
static struct map_entry map[] = {{a, 1}, {b, 2}};
static struct event_rule rules[] = {
        {.type = a, .order = order, .to = 0, .contact = fields, .n_contact = 2, .notify = -1},
        {.type = b,
                .order = order,
                .to = -1,
                .by = by,
                .map = map,
                .n_map = 2,
                .sequence = n,
                .data = fields,
                .n_data = 2,
                .notify = -1},
};
static char *ignored[] = {deep, n};
static struct source source = {.name = name,
        .scheme = name,
        .events = rules,
        .n_events = 2,
        .fingerprint_ignore = ignored,
        .n_fingerprint_ignore = 2};
static const struct policy policy = {.sources = &source, .n_sources = 1, .keep_keys_s = 86400};

static void check(const struct event *event)
{
    struct err err;
    assert(json_id_ok(slice_of(event->id), &err));
    assert(!event->scope[0] || json_id_ok(slice_of(event->scope), &err));
    assert(!event->type || json_id_ok(slice_of(event->type), &err));
    assert(!event->order_id || json_id_ok(slice_of(event->order_id), &err));
    assert(json_check(slice_of(event->contact), &err) && json_check(slice_of(event->data), &err));
    assert(!event->unsigned_id || !event->parked_reason);
    assert(!event->late || (!event->rule && !event->order_id));
    assert(!event->parked_reason || (!event->rule && event->to == -1 && !event->order_id));
    assert(event->rule || event->to == -1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const scope[] = {"/s", "/t", NULL}, *const more[] = {"/j", NULL};
    const struct read_pointers pointers = {.id = "/i",
            .id_more = more,
            .type = "/y",
            .scope = scope,
            .time = "/a",
            .time_demanded = size % 2};
    const struct read_pointers app = {.type = "/y", .app = true};
    const struct read_pointers header = {.type = "/y",
            .time = "/a",
            .header_id = true,
            .header_type = true,
            .unsigned_id = true};
    struct slice body = {data, size};
    struct arrival *arrival = arrival_new(SLICE("s"), body, SLICE("key"), SLICE("type"));
    arrival->received_us = INT64_C(1795961472000000);
    const struct read_pointers *const all[] = {&pointers, &app, &header};
    for (size_t i = 0; i < 2 * ARRAY_LEN(all); i++) {
        arrival->form = i % 2;
        read_events(arrival, &policy, all[i / 2]);
        check(arrival->events);
    }
    arrival_free(arrival);
    return 0;
}
