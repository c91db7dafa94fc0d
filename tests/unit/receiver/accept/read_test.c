#include "receiver/accept/read.h"

#include "tests/test.h"

// Texts of a policy are not const in its structs; nothing here writes to them.
static char shop[] = "shop", scheme[] = "custom", placed[] = "order.placed", moved[] = "moved",
            told[] = "told", order_ptr[] = "/order/id", status_ptr[] = "/status", seq_ptr[] = "/n",
            email[] = "email", email_ptr[] = "/c/email", push[] = "push", push_ptr[] = "/c/devices",
            total[] = "total", total_ptr[] = "/order/total", in_transit[] = "in_transit",
            yes[] = "true", volatile_ptr[] = "/tries", code[] = "code", code_ptr[] = "/code";

static struct field contact[] = {{email, email_ptr}, {push, push_ptr}};
static struct field data[] = {{total, total_ptr}};
static struct field code_field[] = {{code, code_ptr}};
static struct map_entry map[] = {{in_transit, 3}, {yes, 4}};
static struct event_rule rules[] = {
        {.type = placed,
                .order = order_ptr,
                .to = 0,
                .notify = -1,
                .contact = contact,
                .n_contact = 2,
                .data = data,
                .n_data = 1},
        {.type = moved,
                .order = order_ptr,
                .to = -1,
                .by = status_ptr,
                .map = map,
                .n_map = 2,
                .sequence = seq_ptr,
                .notify = -1},
        {.type = told, .to = -1, .notify = 0, .data = code_field, .n_data = 1},
};
static char *ignored[] = {volatile_ptr};
static struct source sources[] = {{.name = shop,
        .scheme = scheme,
        .events = rules,
        .n_events = ARRAY_LEN(rules),
        .fingerprint_ignore = ignored,
        .n_fingerprint_ignore = 1}};
static const struct policy policy = {.sources = sources, .n_sources = 1};

static const char *const scope[] = {"/account", "/live", NULL};
static const struct read_pointers pointers = {.id = "/id", .type = "/type", .scope = scope};
static const struct read_pointers app = {.type = "/type", .app = true};

static struct arrival *arrive(struct slice body, const struct read_pointers *with, struct slice key)
{
    struct arrival *arrival = arrival_new(SLICE("shop"), body, key, SLICE(""));
    read_events(arrival, &policy, with);
    assert_int_equal(arrival->n_events, 1);
    return arrival;
}

static bool same(const char *got, const char *want)
{
    return want ? got && strcmp(got, want) == 0 : got == NULL;
}

// `{"id":"e1", "type":"order.placed", ...`: what most cases start with.
#define HEAD "{\"id\":\"e1\",\"type\":\"order.placed\","
#define MOVED "{\"id\":\"e1\",\"type\":\"moved\",\"order\":{\"id\":\"7\"},"

static const struct {
    const char *name, *body;
    const char *scope, *id, *type; // id NULL = made from the arrival
    int rule, to;                  // index into rules, -1 = none
    const char *order, *contact, *data;
} readable[] = {
        {"a step", HEAD "\"order\":{\"id\":\"1001\",\"total\":12.50},\"c\":{\"email\":\"a@b\"}}",
                ":", "e1", "order.placed", 0, 0, "1001", "{\"email\":\"a@b\"}",
                "{\"total\":\"12.50\"}"},
        {"with scope", HEAD "\"account\":\"acct_1\",\"live\":true,\"order\":{\"id\":\"1\"}}",
                "acct_1:true", "e1", "order.placed", 0, 0, "1", "{}", "{}"},
        {"scope without its first", HEAD "\"live\":false,\"order\":{\"id\":\"1\"}}", ":false", "e1",
                "order.placed", 0, 0, "1", "{}", "{}"},
        {"scope with null", HEAD "\"account\":null,\"live\":true,\"order\":{\"id\":\"1\"}}",
                ":true", "e1", "order.placed", 0, 0, "1", "{}", "{}"},
        {"fields that are null or absent",
                HEAD "\"order\":{\"id\":\"1\",\"total\":null},\"c\":{\"devices\":null}}", ":", "e1",
                "order.placed", 0, 0, "1", "{}", "{}"},
        {"fields of every kind",
                HEAD "\"order\":{\"id\":\"1\",\"total\":[1, {\"a\":\"b\"}]},"
                     "\"c\":{\"email\":\"\\u00e9\",\"devices\":[]}}",
                ":", "e1", "order.placed", 0, 0, "1", "{\"email\":\"\\u00e9\",\"push\":[]}",
                "{\"total\":[\"1\",{\"a\":\"b\"}]}"},
        {"numbers inside of fields",
                HEAD "\"order\":{\"id\":\"1\",\"total\":[{\"price\":12.50, \"n\":-0}, [],\n{}, "
                     "1e999, 12345678901234567890, true, null]}}",
                ":", "e1", "order.placed", 0, 0, "1", "{}",
                "{\"total\":[{\"price\":\"12.50\",\"n\":\"-0\"},[],{},\"1e999\","
                "\"12345678901234567890\",true,null]}"},
        {"a number as id", "{\"id\":98765432109876543210,\"type\":\"other\"}", ":",
                "#98765432109876543210", "other", -1, -1, NULL, "{}", "{}"},
        {"one as a number", "{\"id\":1,\"type\":\"other\"}", ":", "#1", "other", -1, -1, NULL, "{}",
                "{}"},
        {"one as a text", "{\"id\":\"1\",\"type\":\"other\"}", ":", "1", "other", -1, -1, NULL,
                "{}", "{}"},
        {"a number as order", HEAD "\"order\":{\"id\":10}}", ":", "e1", "order.placed", 0, 0, "10",
                "{}", "{}"},
        {"a type without a rule", "{\"id\":\"e1\",\"type\":\"order.seen\"}", ":", "e1",
                "order.seen", -1, -1, NULL, "{}", "{}"},
        {"a value of the map", MOVED "\"status\":\"in_transit\",\"n\":5}", ":", "e1", "moved", 1, 3,
                "7", "{}", "{}"},
        {"a value that is no text", MOVED "\"status\":true,\"n\":5}", ":", "e1", "moved", 1, 4, "7",
                "{}", "{}"},
        {"a value that is not in the map", MOVED "\"status\":\"lost\"}", ":", "e1", "moved", -1, -1,
                NULL, "{}", "{}"},
        {"notify only", "{\"id\":\"e1\",\"type\":\"told\",\"code\":\"123\"}", ":", "e1", "told", 2,
                -1, NULL, "{}", "{\"code\":\"123\"}"},
        {"an escaped id", "{\"id\":\"e\\u0031\",\"type\":\"told\"}", ":", "e1", "told", 2, -1, NULL,
                "{}", "{}"},
        {"names that are escaped", "{\"\\u0069d\":\"e1\",\"t\\u0079pe\":\"told\"}", ":", "e1",
                "told", 2, -1, NULL, "{}", "{}"},
        {"a duplicate that nothing maps", HEAD "\"x\":1,\"x\":2,\"order\":{\"id\":\"1\"}}", ":",
                "e1", "order.placed", 0, 0, "1", "{}", "{}"},
};

static void reads_an_event_by_its_rule(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(readable); i++) {
        struct arrival *arrival = arrive(slice_of(readable[i].body), &pointers, SLICE(""));
        const struct event *event = arrival->events;
        const char *name = readable[i].name;
        if (event->parked_reason)
            fail_msg("case '%s': parked: %s", name, event->parked_reason);
        assert_row(same(event->scope, readable[i].scope), name);
        assert_row(same(event->id, readable[i].id), name);
        assert_row(same(event->type, readable[i].type), name);
        assert_row(event->rule == (readable[i].rule < 0 ? NULL : &rules[readable[i].rule]), name);
        assert_row(event->to == readable[i].to, name);
        assert_row(same(event->order_id, readable[i].order), name);
        assert_row(same(event->contact, readable[i].contact), name);
        assert_row(same(event->data, readable[i].data), name);
        assert_row(event->has_sequence == (readable[i].rule == 1), name);
        assert_row(event->sequence == (readable[i].rule == 1 ? 5 : 0), name);
        arrival_free(arrival);
    }
}

// SLICE for a static table: a constant, and may hold NUL.
#define BYTES(text)                                                                                \
    {                                                                                              \
        (const unsigned char *)("" text), sizeof(text) - 1                                         \
    }

static const struct {
    const char *name;
    struct slice body;
    const char *reason, *id; // id NULL = made from the arrival
} parked[] = {
        {"empty", BYTES(""), "unreadable", NULL},
        {"not JSON", BYTES("hello"), "unreadable", NULL},
        {"cut", BYTES("{\"id\":\"e1\",\"type\""), "unreadable", NULL},
        {"something behind it", BYTES("{\"id\":\"e1\",\"type\":\"told\"}x"), "unreadable", NULL},
        {"not UTF-8", BYTES("{\"id\":\"e1\",\"type\":\"told\",\"x\":\"\xff\"}"), "unreadable",
                NULL},
        {"a NUL", BYTES("{\"id\":\"e1\",\"type\":\"told\"}\0"), "unreadable", NULL},
        {"gzip", BYTES("\x1f\x8b\x08\0\0\0\0\0\0\x03\xab\x56\x4a"), "unreadable", NULL},
        {"a byte order mark", BYTES("\xef\xbb\xbf{\"id\":\"e1\"}"), "unreadable", NULL},
        {"an array", BYTES("[]"), "no-id", NULL},
        {"a text", BYTES("\"e1\""), "no-id", NULL},
        {"empty object", BYTES("{}"), "no-id", NULL},
        {"null id", BYTES("{\"id\":null,\"type\":\"told\"}"), "no-id", NULL},
        {"empty id", BYTES("{\"id\":\"\",\"type\":\"told\"}"), "bad-id", NULL},
        {"id is an object", BYTES("{\"id\":{},\"type\":\"told\"}"), "bad-id", NULL},
        {"id is true", BYTES("{\"id\":true,\"type\":\"told\"}"), "bad-id", NULL},
        {"id with NUL", BYTES("{\"id\":\"e\\u0000\",\"type\":\"told\"}"), "bad-id", NULL},
        {"id with line end", BYTES("{\"id\":\"e\\n\",\"type\":\"told\"}"), "bad-id", NULL},
        {"id with half a pair", BYTES("{\"id\":\"\\ud800\",\"type\":\"told\"}"), "bad-id", NULL},
        {"two ids", BYTES("{\"id\":\"e1\",\"id\":\"e2\",\"type\":\"told\"}"), "duplicate-member",
                NULL},
        {"two equal ids", BYTES("{\"id\":\"e1\",\"id\":\"e1\",\"type\":\"told\"}"),
                "duplicate-member", NULL},
        {"two ids, one escaped", BYTES("{\"id\":\"e1\",\"\\u0069d\":\"e2\",\"type\":\"told\"}"),
                "duplicate-member", NULL},
        {"two accounts",
                BYTES("{\"id\":\"e1\",\"account\":\"a\",\"account\":\"b\",\"type\":\"told\"}"),
                "duplicate-member", NULL},
        {"account is an object", BYTES("{\"id\":\"e1\",\"account\":{},\"type\":\"told\"}"),
                "bad-scope", NULL},
        {"account with line end", BYTES("{\"id\":\"e1\",\"account\":\"\\n\",\"type\":\"told\"}"),
                "bad-scope", NULL},
        {"two types", BYTES("{\"id\":\"e1\",\"type\":\"told\",\"type\":\"moved\"}"),
                "duplicate-member", "e1"},
        {"no type", BYTES("{\"id\":\"e1\"}"), "no-type", "e1"},
        {"type is an array", BYTES("{\"id\":\"e1\",\"type\":[]}"), "bad-type", "e1"},
        {"no order", BYTES(HEAD "\"order\":{}}"), "no-order", "e1"},
        {"order is null", BYTES(HEAD "\"order\":{\"id\":null}}"), "no-order", "e1"},
        {"order is an object", BYTES(HEAD "\"order\":{\"id\":{}}}"), "bad-order", "e1"},
        {"order is true", BYTES(HEAD "\"order\":{\"id\":true}}"), "bad-order", "e1"},
        {"empty order", BYTES(HEAD "\"order\":{\"id\":\"\"}}"), "bad-order", "e1"},
        {"two orders", BYTES(HEAD "\"order\":{\"id\":\"1\",\"id\":\"2\"}}"), "duplicate-member",
                "e1"},
        {"two parents of an order", BYTES(HEAD "\"order\":{\"id\":\"1\"},\"order\":{}}"),
                "duplicate-member", "e1"},
        {"two addresses",
                BYTES(HEAD "\"order\":{\"id\":\"1\"},\"c\":{\"email\":\"a\",\"email\":\"b\"}}"),
                "duplicate-member", "e1"},
        {"two totals", BYTES(HEAD "\"order\":{\"id\":\"1\",\"total\":1,\"total\":2}}"),
                "duplicate-member", "e1"},
        {"a field with NUL",
                BYTES(HEAD "\"order\":{\"id\":\"1\"},\"c\":{\"email\":\"a\\u0000b\"}}"),
                "bad-field", "e1"},
        {"a field with half a pair inside",
                BYTES(HEAD "\"order\":{\"id\":\"1\",\"total\":[{\"\\udc00\":1}]}}"), "bad-field",
                "e1"},
        {"no value", BYTES(MOVED "\"n\":1}"), "no-value", "e1"},
        {"value is an object", BYTES(MOVED "\"status\":{},\"n\":1}"), "bad-value", "e1"},
        {"no sequence", BYTES(MOVED "\"status\":\"in_transit\"}"), "no-sequence", "e1"},
        {"sequence is a text", BYTES(MOVED "\"status\":\"in_transit\",\"n\":\"five\"}"),
                "bad-sequence", "e1"},
        {"sequence is a fraction", BYTES(MOVED "\"status\":\"in_transit\",\"n\":1.5}"),
                "bad-sequence", "e1"},
        {"sequence beyond 64 bits",
                BYTES(MOVED "\"status\":\"in_transit\",\"n\":9223372036854775808}"), "bad-sequence",
                "e1"},
        {"two sequences", BYTES(MOVED "\"status\":\"in_transit\",\"n\":1,\"n\":2}"),
                "duplicate-member", "e1"},
};

static void check_parked(
        const struct arrival *arrival, const char *name, const char *reason, const char *id)
{
    const struct event *event = arrival->events;
    char own[KEY_HEX + 8] = "arrival:";
    key_hex(arrival->id, own + 8);
    if (!same(event->parked_reason, reason))
        fail_msg("case '%s': %s, expected %s", name,
                event->parked_reason ? event->parked_reason : "not parked", reason);
    assert_row(same(event->id, id ? id : own), name);
    assert_row(event->scope && strlen(event->scope) <= EVENT_ID_MAX, name);
    assert_row(!event->rule && event->to == -1 && !event->order_id && !event->has_sequence, name);
    assert_row(same(event->contact, "{}") && same(event->data, "{}"), name);
}

static void parks_what_it_can_not_read_for_sure(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(parked); i++) {
        struct arrival *arrival = arrive(parked[i].body, &pointers, SLICE(""));
        check_parked(arrival, parked[i].name, parked[i].reason, parked[i].id);
        arrival_free(arrival);
    }
}

static void parks_what_is_too_much(void **state)
{
    (void)state;
    static const struct {
        const char *name, *before, *repeated, *behind, *reason, *id;
        int times;
    } cases[] = {
            {"10 kB id", "{\"id\":\"", "x", "\",\"type\":\"told\"}", "bad-id", NULL, 10000},
            {"256 bytes of id", "{\"id\":\"", "x", "\",\"type\":\"told\"}", "bad-id", NULL, 256},
            {"10 kB type", "{\"id\":\"e1\",\"type\":\"", "x", "\"}", "bad-type", "e1", 10000},
            {"10 kB account", "{\"id\":\"e1\",\"type\":\"told\",\"account\":\"", "x", "\"}",
                    "bad-scope", NULL, 10000},
            {"10 kB order", HEAD "\"order\":{\"id\":\"", "x", "\"}}", "bad-order", "e1", 10000},
            {"70 kB field", HEAD "\"order\":{\"id\":\"1\",\"total\":\"", "x", "\"}}", "bad-field",
                    "e1", 70000},
            {"100,000 arrays in one another", "", "[", "", "unreadable", NULL, 100000},
            {"100,000 objects in one another", "", "{\"a\":", "", "unreadable", NULL, 100000},
            {"110,000 members", "{\"id\":\"e1\",\"type\":\"told\"", ",\"a\":0", "}", "unreadable",
                    NULL, 110000},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO_TEXT struct text body = {.max = 1 << 21};
        text_str(&body, cases[i].before);
        for (int n = 0; n < cases[i].times; n++)
            text_str(&body, cases[i].repeated);
        text_str(&body, cases[i].behind);
        struct arrival *arrival = arrive(text_slice(&body), &pointers, SLICE(""));
        check_parked(arrival, cases[i].name, cases[i].reason, cases[i].id);
        arrival_free(arrival);
    }
}

static void takes_an_apps_id_from_its_key(void **state)
{
    (void)state;
    static const struct {
        const char *name, *body, *key, *id, *reason;
    } cases[] = {
            {"key", "{\"id\":\"other\",\"type\":\"told\"}", "k-1", "k-1", NULL},
            {"unreadable keeps it", "{", "k-1", "k-1", "unreadable"},
            {"no type keeps it", "{}", "k-1", "k-1", "no-type"},
            {"no key", "{\"type\":\"told\"}", "", NULL, "no-id"},
            {"unprintable key", "{\"type\":\"told\"}", "k\n", NULL, "bad-id"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct arrival *arrival = arrive(slice_of(cases[i].body), &app, slice_of(cases[i].key));
        assert_row(same(arrival->events->parked_reason, cases[i].reason), cases[i].name);
        assert_row(same(arrival->events->scope, ""), cases[i].name);
        if (cases[i].reason)
            check_parked(arrival, cases[i].name, cases[i].reason, cases[i].id);
        else
            assert_row(same(arrival->events->id, cases[i].id), cases[i].name);
        arrival_free(arrival);
    }
}

static void fingerprints_the_bytes_without_what_changes_between_tries(void **state)
{
    (void)state;
    static const struct {
        const char *name, *first, *second;
        bool equal;
    } cases[] = {
            {"same bytes", "{\"id\":\"e\"}", "{\"id\":\"e\"}", true},
            {"a space more", "{\"id\":\"e\"}", "{\"id\": \"e\"}", false},
            {"an ignored member", "{\"id\":\"e\",\"tries\":1}", "{\"id\":\"e\",\"tries\":22}",
                    true},
            {"only one has it", "{\"id\":\"e\",\"tries\":1}", "{\"id\":\"e\"}", true},
            {"one of that name deeper", "{\"a\":{\"tries\":1}}", "{\"a\":{\"tries\":2}}", false},
            {"unreadable", "{\"tries\":1", "{\"tries\":2", false},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct arrival *first = arrive(slice_of(cases[i].first), &pointers, SLICE(""));
        struct arrival *second = arrive(slice_of(cases[i].second), &pointers, SLICE(""));
        bool equal = memcmp(first->events->fingerprint, second->events->fingerprint, 32) == 0;
        assert_row(equal == cases[i].equal, cases[i].name);
        arrival_free(first);
        arrival_free(second);
    }
}

static void gives_no_two_events_without_an_id_the_same_one(void **state)
{
    (void)state;
    struct arrival *first = arrive(SLICE("{}"), &pointers, SLICE(""));
    struct arrival *second = arrive(SLICE("{}"), &pointers, SLICE(""));
    assert_string_not_equal(first->events->id, second->events->id);
    arrival_free(first);
    arrival_free(second);
}

static void reads_again_by_another_policy(void **state)
{
    (void)state;
    static const struct policy empty = {.n_sources = 0};
    struct arrival *arrival = arrive(SLICE(HEAD "\"order\":{\"id\":\"1\"}}"), &pointers, SLICE(""));
    assert_ptr_equal(arrival->events->rule, &rules[0]);
    read_events(arrival, &empty, &pointers);
    check_parked(arrival, "a source that is gone", "no-source", "e1");
    read_events(arrival, &policy, &pointers);
    assert_ptr_equal(arrival->events->rule, &rules[0]);
    arrival_free(arrival);
}

// A scheme without an id or type pointer finds none; it never takes the whole document for it.
static void takes_nothing_for_a_pointer_that_is_not_there(void **state)
{
    (void)state;
    const struct read_pointers nothing = {.id = NULL}, no_type = {.id = "/id"};
    struct arrival *arrival = arrive(SLICE("\"e1\""), &nothing, SLICE(""));
    check_parked(arrival, "no pointers", "no-id", NULL);
    arrival_free(arrival);
    arrival = arrive(SLICE("{\"id\":\"e1\"}"), &no_type, SLICE(""));
    assert_string_equal(arrival->events->parked_reason, "no-type");
    arrival_free(arrival);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(reads_an_event_by_its_rule),
            cmocka_unit_test(parks_what_it_can_not_read_for_sure),
            cmocka_unit_test(parks_what_is_too_much),
            cmocka_unit_test(takes_an_apps_id_from_its_key),
            cmocka_unit_test(fingerprints_the_bytes_without_what_changes_between_tries),
            cmocka_unit_test(gives_no_two_events_without_an_id_the_same_one),
            cmocka_unit_test(reads_again_by_another_policy),
            cmocka_unit_test(takes_nothing_for_a_pointer_that_is_not_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
