// Fuzzes the batch splitter, the id extractor and the inflater. From the root:
//   clang-14 -std=gnu17 -D_GNU_SOURCE -g -O1 -fsanitize=fuzzer,address,undefined -I. common/base.c
//   common/err.c common/text.c common/utf8.c common/keys.c common/json/*.c common/config/*.c
//   common/form.c receiver/arrival.c receiver/accept/read*.c receiver/http/inflate.c
//   tests/fuzz/batch_fuzz.c -lcrypto -lyaml -lz -o batch_fuzz
//   ./batch_fuzz -runs=10000000 -max_len=4096
// Properties: members are whole values of the body, in it, and not more than there may be; every
// event has a printable id of its own, unless both name the same; reading twice gives the same; a
// body that is inflated is never longer than it may be.
#include "receiver/accept/read_batch.h"
#include "receiver/http/inflate.h"

#include <assert.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char name[] = "s", kind[] = "a", order[] = "/o", ignored_ptr[] = "/n";
static char *ignored[] = {ignored_ptr};
static struct event_rule rules[] = {{.type = kind, .order = order, .to = 0, .notify = -1}};
static struct source source = {.name = name,
        .scheme = name,
        .events = rules,
        .n_events = 1,
        .fingerprint_ignore = ignored,
        .n_fingerprint_ignore = 1};
static const struct policy policy = {.sources = &source, .n_sources = 1, .keep_keys_s = 86400};

static const char *const whole[] = {"", NULL}, *const flat[] = {"/e", NULL},
                         *const nested[] = {"/e/*/c/*/v/m", "/e/*/c/*/v/s", NULL},
                         *const lists[] = {"/*", "/e/*", "", NULL};
static const char *const more[] = {"/j", "/k", NULL}, *const scope[] = {"/s", "/t", NULL};

static void split(struct slice body, const char *const *patterns)
{
    AUTO_MEMBERS struct members members = {0};
    const char *reason = read_members(body, patterns, &members);
    assert(members.n <= READ_MEMBERS_MAX);
    for (size_t i = 0; !reason && i < members.n; i++) {
        struct slice raw = members.rows[i].token.raw;
        assert(raw.ptr >= body.ptr && raw.ptr + raw.len <= body.ptr + body.len);
        assert(json_check(raw, NULL));
    }
}

static void check(const struct arrival *arrival)
{
    struct err err;
    for (size_t i = 0; i < arrival->n_events; i++) {
        const struct event *event = &arrival->events[i];
        assert(json_id_ok(slice_of(event->id), &err));
        assert(!event->scope[0] || json_id_ok(slice_of(event->scope), &err));
        assert(!event->parked_reason || (!event->rule && event->to == -1 && !event->order_id));
        assert(!event->parked_reason || !event->remark);
        bool own = strncmp(event->id, "arrival:", 8) == 0;
        for (size_t k = 0; own && k < i; k++)
            assert(strcmp(arrival->events[k].id, event->id) != 0);
    }
}

static void read_twice(struct slice body, const struct read_pointers *pointers)
{
    struct arrival *arrival = arrival_new(SLICE("s"), body, SLICE("key"), SLICE("a"));
    read_events(arrival, &policy, pointers);
    check(arrival);
    size_t n = arrival->n_events;
    char *first = n ? xstrdup(arrival->events[0].id) : NULL;
    read_events(arrival, &policy, pointers);
    assert(arrival->n_events == n && (!n || strcmp(first, arrival->events[0].id) == 0));
    free(first);
    arrival_free(arrival);
}

static void inflate_both(struct slice sent)
{
    static const enum body_coding codings[] = {CODING_GZIP, CODING_DEFLATE};
    for (size_t i = 0; i < ARRAY_LEN(codings); i++) {
        AUTO_TEXT struct text out = {.max = 0};
        enum inflate_end end = inflate_body(codings[i], sent, 10000, &out);
        assert(end == INFLATE_OK ? out.len <= 10000 && out.len <= 100 * sent.len : out.len == 0);
    }
}

// Which patterns, and where the id is, follow from the length: one reading a run is fast.
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const *const patterns[] = {whole, flat, nested, lists};
    size_t i = size % ARRAY_LEN(patterns);
    struct slice body = {data, size};
    struct read_pointers pointers = {.id = "/i",
            .id_more = i % 2 ? more : NULL,
            .id_digest = i > 1,
            .type = "/y",
            .type_more = "/z",
            .type_of_batch = i == 2,
            .volatiles = more,
            .scope = scope,
            .batch = patterns[i]};
    const struct read_pointers header = {
            .header_id = true, .header_type = true, .unsigned_id = true, .batch = patterns[i]};
    if (size && (data[0] == 0x1f || data[0] == 0x78)) {
        inflate_both(body);
        return 0;
    }
    split(body, patterns[i]);
    read_twice(body, size / 4 % 4 ? &pointers : &header);
    return 0;
}
