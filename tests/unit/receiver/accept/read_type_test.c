// Types of two words or of an array's name, what changes between tries, and providers without ids.
#include "receiver/accept/read.h"

#include "tests/test.h"

static char shop[] = "shop", scheme[] = "custom", policys[] = "/p";
static char *ignored[] = {policys};
static struct source sources[] = {
        {.name = shop, .scheme = scheme, .fingerprint_ignore = ignored, .n_fingerprint_ignore = 1}};
static const struct policy policy = {.sources = sources, .n_sources = 1};

static const char *const changing[] = {"/try", "/at/sent", NULL}, *const arrays[] = {
                                                                          "/entry/*/messages",
                                                                          "/entry/*/statuses",
                                                                          NULL};
static const struct read_pointers words = {.id = "/id", .type = "/t", .type_more = "/m"},
                                  volatiles = {.id = "/id", .type = "/t", .volatiles = changing},
                                  nameless = {.id_digest = true, .header_type = true},
                                  named = {.id = "/id", .type_of_batch = true, .batch = arrays};

static struct arrival *arrive(const struct read_pointers *with, const char *body, const char *type)
{
    struct arrival *arrival = arrival_new(SLICE("shop"), slice_of(body), SLICE(""), slice_of(type));
    read_events(arrival, &policy, with);
    return arrival;
}

static void joins_the_words_of_a_type(void **state)
{
    (void)state;
    static const struct {
        const char *name, *body, *type, *reason;
    } cases[] = {
            {"both", "{\"id\":\"1\",\"t\":\"Issue\",\"m\":\"create\"}", "Issue.create", NULL},
            {"the first alone", "{\"id\":\"1\",\"t\":\"Issue\"}", "Issue", NULL},
            {"the second alone", "{\"id\":\"1\",\"m\":\"create\"}", NULL, "no-type"},
            {"the second twice", "{\"id\":\"1\",\"t\":\"a\",\"m\":\"b\",\"m\":\"b\"}", NULL,
                    "duplicate-member"},
            {"the second no text", "{\"id\":\"1\",\"t\":\"a\",\"m\":{}}", NULL, "bad-type"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct arrival *arrival = arrive(&words, cases[i].body, "");
        const struct event *event = arrival->events;
        const char *type = event->type ? event->type : "", *reason = event->parked_reason;
        assert_row(strcmp(type, cases[i].type ? cases[i].type : "") == 0, cases[i].name);
        assert_row(strcmp(reason ? reason : "", cases[i].reason ? cases[i].reason : "") == 0,
                cases[i].name);
        arrival_free(arrival);
    }
}

static void names_a_member_by_its_array(void **state)
{
    (void)state;
    struct arrival *arrival = arrive(&named,
            "{\"entry\":[{\"messages\":[{\"id\":\"1\"},{\"id\":\"2\"}]},{\"statuses\":[{\"id\":"
            "\"1\"}]}]}",
            "");
    assert_int_equal(arrival->n_events, 3);
    assert_string_equal(arrival->events[0].type, "messages");
    assert_string_equal(arrival->events[1].type, "messages");
    assert_string_equal(arrival->events[2].type, "statuses");
    for (size_t i = 0; i < 3; i++)
        assert_null(arrival->events[i].parked_reason);
    arrival_free(arrival);
}

static bool same_fingerprint(const char *body, const char *other)
{
    struct arrival *a = arrive(&volatiles, body, ""), *b = arrive(&volatiles, other, "");
    bool same = memcmp(a->events->fingerprint, b->events->fingerprint, 32) == 0;
    arrival_free(a);
    arrival_free(b);
    return same;
}

static void leaves_out_what_changes_between_tries(void **state)
{
    (void)state;
#define EVENT(try, sent, policys) "{\"id\":\"1\",\"t\":\"a\"," try "\"at\":{" sent "}" policys "}"
    const char *first = EVENT("\"try\":1,", "\"sent\":1", ",\"p\":1");
    assert_true(same_fingerprint(first, EVENT("\"try\":2,", "\"sent\":1", ",\"p\":1")));
    assert_true(same_fingerprint(first, EVENT("\"try\":1,", "\"sent\":9", ",\"p\":1")));
    assert_true(same_fingerprint(first, EVENT("\"try\":1,", "\"sent\":1", ",\"p\":2")));
    assert_true(same_fingerprint(first, EVENT("", "\"sent\":1", "")));
    assert_false(same_fingerprint(first, EVENT("\"try\":1,", "\"sent\":1,\"x\":1", ",\"p\":1")));
    assert_false(same_fingerprint(first, EVENT("\"tries\":1,", "\"sent\":1", ",\"p\":1")));
}

static void takes_a_digest_where_a_provider_has_no_id(void **state)
{
    (void)state;
    struct arrival *a = arrive(&nameless, "{\"list\":[1]}", "list_folder"),
                   *copy = arrive(&nameless, "{\"list\":[1]}", "list_folder"),
                   *other = arrive(&nameless, "{\"list\":[2]}", "list_folder");
    assert_null(a->events->parked_reason);
    assert_string_equal(a->events->type, "list_folder");
    assert_int_equal(strlen(a->events->id), 7 + 32);
    assert_string_equal(a->events->id, copy->events->id);
    assert_string_not_equal(a->events->id, other->events->id);
    arrival_free(a);
    arrival_free(copy);
    arrival_free(other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(joins_the_words_of_a_type),
            cmocka_unit_test(names_a_member_by_its_array),
            cmocka_unit_test(leaves_out_what_changes_between_tries),
            cmocka_unit_test(takes_a_digest_where_a_provider_has_no_id),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
