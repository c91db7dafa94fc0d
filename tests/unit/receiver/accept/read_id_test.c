// Ids of several parts, and of a digest: exact, and never shared by two events.
#include "receiver/accept/read.h"

#include "tests/test.h"

static char shop[] = "shop", scheme[] = "custom", tries[] = "/tries";
static char *ignored[] = {tries};
static struct source sources[] = {
        {.name = shop, .scheme = scheme}, {.name = scheme,
                                                  .scheme = scheme,
                                                  .fingerprint_ignore = ignored,
                                                  .n_fingerprint_ignore = 1}};
static const struct policy policy = {.sources = sources, .n_sources = ARRAY_LEN(sources)};

static const char *const two[] = {"/b", NULL}, *const three[] = {"/b", "/c", NULL};
static const struct read_pointers
        pair = {.id = "/a", .id_more = two, .type = "/t"},
        triple = {.id = "/a", .id_more = three, .type = "/t"},
        digest = {.id = "/a", .id_digest = true, .type = "/t"},
        each = {.id = "/a", .id_digest = true, .id_each = true, .type = "/t"},
        nothing = {.id_digest = true, .id_each = true, .type = "/t"},
        both = {.id = "/a", .id_more = two, .id_digest = true, .type = "/t"};

static struct arrival *arrive(
        const char *source, const struct read_pointers *with, const char *body)
{
    struct arrival *arrival = arrival_new(slice_of(source), slice_of(body), SLICE(""), SLICE(""));
    read_events(arrival, &policy, with);
    assert_int_equal(arrival->n_events, 1);
    return arrival;
}

#define T ",\"t\":\"x\"}"

static void joins_parts_exactly(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        const struct read_pointers *with;
        const char *body, *id, *reason; // id NULL = made from the arrival
    } cases[] = {
            {"texts", &pair, "{\"a\":\"1\",\"b\":\"sent\"" T, "1:sent", NULL},
            {"a number", &pair, "{\"a\":1,\"b\":\"sent\"" T, "#1:sent", NULL},
            {"all digits", &pair, "{\"a\":98765432109876543210,\"b\":2" T,
                    "#98765432109876543210:#2", NULL},
            {"a fraction's digits", &pair, "{\"a\":1.50,\"b\":1e2" T, "#1.50:#1e2", NULL},
            {"a separator in the last", &pair, "{\"a\":\"1\",\"b\":\"a:b\"" T, "1:a%3Ab", NULL},
            {"a separator in the first", &pair, "{\"a\":\"1:a\",\"b\":\"b\"" T, "1%3Aa:b", NULL},
            {"what a separator is written as", &pair, "{\"a\":\"1%3Aa\",\"b\":\"b\"" T, "1%253Aa:b",
                    NULL},
            {"three", &triple, "{\"a\":\"1\",\"b\":\"2021-05-01T10:00:00\",\"c\":3" T,
                    "1:2021-05-01T10%3A00%3A00:#3", NULL},
            {"the first lacks", &pair, "{\"b\":\"sent\"" T, NULL, "no-id"},
            {"the first is null", &pair, "{\"a\":null,\"b\":\"sent\"" T, NULL, "no-id"},
            {"an empty part", &pair, "{\"a\":\"1\",\"b\":\"\"" T, NULL, "bad-id"},
            {"an object", &pair, "{\"a\":\"1\",\"b\":{}" T, NULL, "bad-id"},
            {"twice", &pair, "{\"a\":\"1\",\"b\":1,\"b\":1" T, NULL, "duplicate-member"},
            {"true", &pair, "{\"a\":\"1\",\"b\":true" T, NULL, "bad-id"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct arrival *arrival = arrive("shop", cases[i].with, cases[i].body);
        const struct event *event = arrival->events;
        if (cases[i].id && strcmp(event->id, cases[i].id) != 0)
            fail_msg("%s: %s", cases[i].name, event->id);
        assert_row(cases[i].id || strncmp(event->id, "arrival:", 8) == 0, cases[i].name);
        bool same = cases[i].reason ? event->parked_reason &&
                                              strcmp(event->parked_reason, cases[i].reason) == 0
                                    : !event->parked_reason;
        assert_row(same, cases[i].name);
        arrival_free(arrival);
    }
}

static bool share_an_id(
        const char *source, const struct read_pointers *with, const char *first, const char *second)
{
    struct arrival *a = arrive(source, with, first), *b = arrive(source, with, second);
    bool same = strcmp(a->events->id, b->events->id) == 0;
    arrival_free(a);
    arrival_free(b);
    return same;
}

static void shares_an_id_with_copies_only(void **state)
{
    (void)state;
    static const struct {
        const char *name, *source;
        const struct read_pointers *with;
        const char *first, *second;
        bool shared;
    } cases[] = {
            {"a copy", "shop", &pair, "{\"a\":\"1\",\"b\":\"2\"" T, "{\"a\":\"1\",\"b\":\"2\"" T,
                    true},
            {"all parts, another body", "shop", &pair, "{\"a\":\"1\",\"b\":\"2\"" T,
                    "{\"a\":\"1\",\"b\":\"2\",\"n\":1" T, true},
            {"1 and \"1\"", "shop", &pair, "{\"a\":1,\"b\":\"2\"" T, "{\"a\":\"1\",\"b\":\"2\"" T,
                    false},
            {"1 and 1.0", "shop", &pair, "{\"a\":1,\"b\":\"2\"" T, "{\"a\":1.0,\"b\":\"2\"" T,
                    false},
            {"another cut", "shop", &pair, "{\"a\":\"1:2\",\"b\":\"3\"" T,
                    "{\"a\":\"1\",\"b\":\"2:3\"" T, false},
            {"a cut that is written out", "shop", &pair, "{\"a\":\"1%3A2\",\"b\":\"3\"" T,
                    "{\"a\":\"1:2\",\"b\":\"3\"" T, false},
            {"both lack a part", "shop", &pair, "{\"a\":\"1\",\"n\":1" T, "{\"a\":\"1\",\"n\":2" T,
                    false},
            {"a copy that lacks a part", "shop", &pair, "{\"a\":\"1\",\"n\":1" T,
                    "{\"a\":\"1\",\"n\":1" T, true},
            {"they lack different parts", "shop", &triple, "{\"a\":\"1\",\"b\":\"2\"" T,
                    "{\"a\":\"1\",\"c\":\"2\"" T, false},
            {"null and absent", "shop", &pair, "{\"a\":\"1\",\"b\":null" T, "{\"a\":\"1\"" T,
                    false},
            {"both lack the first", "shop", &pair, "{\"b\":\"1\"" T, "{\"b\":\"1\"" T, false},
            {"a digest of copies", "shop", &digest, "{\"a\":\"1\"" T, "{\"a\":\"1\"" T, true},
            {"a digest of others", "shop", &digest, "{\"a\":\"1\"" T, "{\"a\":\"1\" " T, false},
            {"a digest and parts", "shop", &both, "{\"a\":\"1\",\"b\":\"2\"" T,
                    "{\"a\":\"1\",\"b\":\"2\" " T, false},
            {"a digest without what changes", "custom", &digest, "{\"a\":\"1\",\"tries\":1" T,
                    "{\"a\":\"1\",\"tries\":2" T, true},
            {"a digest of each request", "shop", &each, "{\"a\":\"1\"" T, "{\"a\":\"1\"" T, false},
            {"only a digest, of each", "shop", &nothing, "{\"a\":\"1\"" T, "{\"a\":\"1\"" T, false},
            {"a part that looks like a digest", "shop", &pair, "{\"a\":\"1\"" T,
                    "{\"a\":\"1\",\"b\":\":7e3e7cd4a1e1aa8ee5ce0e0b8a3dc8b1\"" T, false},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        assert_row(share_an_id(cases[i].source, cases[i].with, cases[i].first, cases[i].second) ==
                           cases[i].shared,
                cases[i].name);
}

static void ends_with_the_first_half_of_the_sha256(void **state)
{
    (void)state;
    struct arrival *arrival = arrive("shop", &digest, "{\"a\":\"1\"" T);
    // printf '%s' '{"a":"1","t":"x"}' | sha256sum
    assert_string_equal(arrival->events->id, "1:5482c70d7366aab888ac8d5a10bb6075");
    arrival_free(arrival);
}

// A transaction that runs again, and a policy that is read again, meet the same event.
static void keeps_the_id_of_one_request(void **state)
{
    (void)state;
    struct arrival *arrival = arrive("shop", &each, "{\"a\":\"1\"" T);
    AUTO_FREE char *before = xstrdup(arrival->events->id);
    read_events(arrival, &policy, &each);
    assert_string_equal(arrival->events->id, before);
    arrival_free(arrival);
}

// Two accounts that use one id are two events, whatever their names hold.
static void joins_a_scope_so_that_no_two_are_one(void **state)
{
    (void)state;
    static const char *const one_part[] = {"/org", NULL}, *const parts[] = {"/org", "/shop", NULL};
    static const struct read_pointers one = {.id = "/a", .type = "/t", .scope = one_part},
                                      several = {.id = "/a", .type = "/t", .scope = parts};
    static const struct {
        const char *name;
        const struct read_pointers *with;
        const char *body, *scope;
    } cases[] = {
            {"two parts", &several, "{\"org\":\"eu\",\"shop\":2", "eu:2"},
            {"a ':' in the first", &several, "{\"org\":\"eu:1\",\"shop\":\"2\"", "eu%3A1:2"},
            {"a ':' in the second", &several, "{\"org\":\"eu\",\"shop\":\"1:2\"", "eu:1%3A2"},
            {"what a ':' is written as", &several, "{\"org\":\"eu%3A1\",\"shop\":\"2\"",
                    "eu%253A1:2"},
            {"a ':' and none", &several, "{\"org\":\"eu:1\"", "eu%3A1:"},
            {"none and a ':'", &several, "{\"shop\":\"eu:1\"", ":eu%3A1"},
            {"one part is as it is", &one, "{\"org\":\"eu:1%\"", "eu:1%"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO_TEXT struct text body = {.max = 256};
        text_fmt(&body, "%s,\"a\":\"e1\"" T, cases[i].body);
        struct arrival *arrival = arrive("shop", cases[i].with, text_cstr(&body));
        assert_row(!arrival->events->parked_reason, cases[i].name);
        assert_row(strcmp(arrival->events->scope, cases[i].scope) == 0, cases[i].name);
        arrival_free(arrival);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(joins_parts_exactly),
            cmocka_unit_test(joins_a_scope_so_that_no_two_are_one),
            cmocka_unit_test(shares_an_id_with_copies_only),
            cmocka_unit_test(keeps_the_id_of_one_request),
            cmocka_unit_test(ends_with_the_first_half_of_the_sha256),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
