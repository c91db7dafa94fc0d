// Batches: one request, N events, each with an id, a fingerprint and a fate of its own.
#include "receiver/accept/read.h"
#include "receiver/accept/read_batch.h"

#include "tests/test.h"
#include <stdio.h>

static char shop[] = "shop", scheme[] = "custom", sent[] = "sent", order_ptr[] = "/order",
            tries[] = "/tries";
static char *ignored[] = {tries};
static struct event_rule rules[] = {{.type = sent, .order = order_ptr, .to = 0, .notify = -1}};
static struct source sources[] = {{.name = shop,
        .scheme = scheme,
        .events = rules,
        .n_events = ARRAY_LEN(rules),
        .fingerprint_ignore = ignored,
        .n_fingerprint_ignore = 1}};
static const struct policy policy = {.sources = sources, .n_sources = 1};

static const char *const whole[] = {"", NULL}, *const events[] = {"/events", NULL},
                         *const nested[] = {"/entry/*/changes/*/value/messages",
                                 "/entry/*/changes/*/value/statuses", NULL},
                         *const lists[] = {"/lists/*", NULL},
                         *const starred[] = {"/a*/x", "/*b", NULL};
static const char *const scope[] = {"/account", NULL};

static struct arrival *arrive(const char *const *batch, struct slice body)
{
    const struct read_pointers with = {
            .id = "/id", .type = "/type", .scope = scope, .batch = batch};
    struct arrival *arrival = arrival_new(SLICE("shop"), body, SLICE(""), SLICE(""));
    read_events(arrival, &policy, &with);
    return arrival;
}

// "id" or "reason!" of each event, joined with a blank.
static const char *told(const struct arrival *arrival, struct text *out)
{
    text_reset(out);
    for (size_t i = 0; i < arrival->n_events; i++) {
        const struct event *event = &arrival->events[i];
        const char *word = event->parked_reason ? event->parked_reason
                           : event->remark      ? event->remark
                                                : event->id;
        text_fmt(out, "%s%s%s", i ? " " : "", word, event->parked_reason ? "!" : "");
    }
    return text_cstr(out);
}

#define E(id) "{\"id\":\"" id "\",\"type\":\"x\"}"

static void makes_one_event_of_each_member(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        const char *const *batch;
        const char *body, *want;
    } cases[] = {
            {"the body is the array", whole, "[" E("a") ",\r\n" E("b") "]\r\n", "a b"},
            {"an array in it", events, "{\"n\":1,\"events\":[" E("a") "," E("b") "]}", "a b"},
            {"of one", events, "{\"events\":[" E("a") "]}", "a"},
            {"of none", events, "{\"events\":[]}", ""},
            {"the body is an array of none", whole, " [ ] ", ""},
            {"no array", events, "{\"event\":[]}", "no-batch!"},
            {"null", events, "{\"events\":null}", "no-batch!"},
            {"an object", events, "{\"events\":{}}", "bad-batch!"},
            {"the body is an object", whole, E("a"), "bad-batch!"},
            {"a text", whole, "\"a\"", "bad-batch!"},
            {"two arrays of that name", events, "{\"events\":[],\"events\":[" E("a") "]}",
                    "duplicate-member!"},
            {"cut", events, "{\"events\":[" E("a") ",", "unreadable!"},
            {"something behind it", whole, "[" E("a") "]x", "unreadable!"},
            {"empty", whole, "", "unreadable!"},
            {"a member without an id", whole, "[" E("a") ",{\"type\":\"x\"}," E("b") "]",
                    "a no-id! b"},
            {"a member that is no object", whole, "[1," E("a") ",null,[]]",
                    "no-id! a no-id! no-id!"},
            {"a member whose id stands twice", whole,
                    "[{\"id\":\"a\",\"id\":\"b\",\"type\":\"x\"}," E("c") "]",
                    "duplicate-member! c"},
            {"a member without a type", whole, "[{\"id\":\"a\"}," E("b") "]", "no-type! b"},
            {"1 and \"1\"", whole, "[{\"id\":1,\"type\":\"x\"}," E("1") "]", "#1 1"},
            {"nested", nested,
                    "{\"entry\":[{\"changes\":[{\"value\":{\"messages\":[" E("a") "," E(
                            "b") "]}},"
                                 "{\"value\":{\"statuses\":[" E(
                                         "s") "]}}]},"
                                              "{\"changes\":[{\"value\":{\"messages\":[" E(
                                                      "c") "]}}]}]}",
                    "a b c s"},
            {"nested, none of them there", nested,
                    "{\"entry\":[{\"changes\":[{\"value\":{\"x\":1}}]}]}", "no-members"},
            {"nested, without a value", nested, "{\"entry\":[{\"changes\":[{},1]}]}", "no-members"},
            {"nested, nothing on the way", nested, "{\"entry\":[]}", ""},
            {"nested, no way", nested, "{\"entries\":[]}", "no-batch!"},
            {"nested, an object on the way", nested, "{\"entry\":[{\"changes\":{}}]}",
                    "bad-batch!"},
            {"nested, a name twice", nested, "{\"entry\":[{\"changes\":[],\"changes\":[]}]}",
                    "duplicate-member!"},
            {"arrays of an array", lists,
                    "{\"lists\":[[" E("a") "],[],"
                                           "[" E("b") "," E("c") "]]}",
                    "a b c"},
            {"a star in a name is itself", starred,
                    "{\"a*\":{\"x\":[" E("a") "]},\"*b\":[" E("b") "]}", "a b"},
    };
    AUTO_TEXT struct text out = {.max = 1000};
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct arrival *arrival = arrive(cases[i].batch, slice_of(cases[i].body));
        if (strcmp(told(arrival, &out), cases[i].want) != 0)
            fail_msg("%s: %s", cases[i].name, text_cstr(&out));
        arrival_free(arrival);
    }
}

static void reads_members_by_their_own_pointers_and_scope_by_the_body(void **state)
{
    (void)state;
    struct arrival *arrival = arrive(
            events, SLICE("{\"account\":\"acct\",\"order\":\"no\",\"events\":["
                          "{\"id\":\"a\",\"type\":\"sent\",\"order\":\"1\",\"account\":\"no\"},"
                          "{\"id\":\"b\",\"type\":\"sent\"}]}"));
    assert_int_equal(arrival->n_events, 2);
    const struct event *first = &arrival->events[0], *second = &arrival->events[1];
    assert_string_equal(first->scope, "acct");
    assert_string_equal(second->scope, "acct");
    assert_string_equal(first->order_id, "1");
    assert_ptr_equal(first->rule, &rules[0]);
    assert_string_equal(second->parked_reason, "no-order");
    assert_string_equal(second->id, "b");
    arrival_free(arrival);
}

static void parks_all_when_the_account_is_not_sure(void **state)
{
    (void)state;
    struct arrival *arrival = arrive(
            events, SLICE("{\"account\":1,\"account\":2,\"events\":[" E("a") "," E("b") "]}"));
    assert_int_equal(arrival->n_events, 2);
    for (size_t i = 0; i < 2; i++) {
        assert_string_equal(arrival->events[i].parked_reason, "duplicate-member");
        assert_int_equal(strncmp(arrival->events[i].id, "arrival:", 8), 0);
    }
    assert_string_not_equal(arrival->events[0].id, arrival->events[1].id);
    arrival_free(arrival);
}

static void takes_the_fingerprint_of_a_members_bytes(void **state)
{
    (void)state;
    struct arrival *one =
            arrive(events, SLICE("{\"events\":[" E("a") ",{\"id\":\"b\","
                                                        "\"type\":\"x\",\"tries\":1}]}"));
    struct arrival *other = arrive(events, SLICE("{\"n\":2, \"events\":[{\"id\":\"b\",\"type\":"
                                                 "\"x\",\"tries\":2},\n" E("a") "]}"));
    struct arrival *alone = arrive(NULL, SLICE(E("a")));
    assert_memory_equal(one->events[0].fingerprint, other->events[1].fingerprint, 32);
    assert_memory_equal(one->events[1].fingerprint, other->events[0].fingerprint, 32);
    assert_memory_equal(one->events[0].fingerprint, alone->events[0].fingerprint, 32);
    assert_memory_not_equal(one->events[0].fingerprint, one->events[1].fingerprint, 32);
    arrival_free(one);
    arrival_free(other);
    arrival_free(alone);
}

static void gives_no_two_members_without_an_id_the_same_one(void **state)
{
    (void)state;
    struct arrival *arrival = arrive(whole, SLICE("[{},{}]"));
    assert_string_not_equal(arrival->events[0].id, arrival->events[1].id);
    char first[100];
    snprintf(first, sizeof first, "%s", arrival->events[0].id);
    const struct read_pointers with = {.id = "/id", .type = "/type", .batch = whole};
    read_events(arrival, &policy, &with);
    assert_string_equal(arrival->events[0].id, first); // a transaction run again finds its own
    arrival_free(arrival);
}

// Where a header has the id, it is not signed: a second request with these bytes and another id is
// a replay, member by member.
static void tells_members_apart_by_their_place_where_a_header_has_the_id(void **state)
{
    (void)state;
    const struct read_pointers with = {
            .type = "/type", .batch = whole, .header_id = true, .unsigned_id = true};
    struct arrival *arrivals[2];
    for (size_t i = 0; i < 2; i++) {
        arrivals[i] = arrival_new(SLICE("shop"), SLICE("[" E("a") "," E("a") "]"),
                slice_of(i ? "h-2" : "h-1"), SLICE(""));
        read_events(arrivals[i], &policy, &with);
        assert_int_equal(arrivals[i]->n_events, 2);
    }
    const struct event *one = arrivals[0]->events, *two = arrivals[1]->events;
    assert_string_equal(one[0].id, "h-1:0");
    assert_string_equal(one[1].id, "h-1:1");
    assert_string_equal(two[1].id, "h-2:1");
    assert_true(one[0].unsigned_id && one[1].unsigned_id);
    assert_memory_not_equal(one[0].signed_digest, one[1].signed_digest, 32);
    assert_memory_equal(one[1].signed_digest, two[1].signed_digest, 32);
    arrival_free(arrivals[0]);
    arrival_free(arrivals[1]);
}

static void takes_what_must_come_once_for_the_signed_bytes(void **state)
{
    (void)state;
    const struct read_pointers with = {.id = "/id", .type = "/type", .unsigned_id = true};
    struct arrival *arrival = arrival_new(SLICE("shop"), SLICE(E("a")), SLICE(""), SLICE(""));
    arrival->has_once = true;
    memset(arrival->once, 7, sizeof arrival->once);
    read_events(arrival, &policy, &with);
    assert_memory_equal(arrival->events[0].signed_digest, arrival->once, 32);
    arrival_free(arrival);
}

static void parks_a_batch_that_is_too_long_as_a_whole(void **state)
{
    (void)state;
    static const struct {
        size_t n;
        size_t events;
    } cases[] = {{READ_MEMBERS_MAX, READ_MEMBERS_MAX}, {READ_MEMBERS_MAX + 1, 1}};
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO_TEXT struct text body = {.max = 1 << 20};
        text_str(&body, "[");
        for (size_t k = 0; k < cases[i].n; k++)
            text_fmt(&body, "%s{\"id\":%zu,\"type\":\"x\"}", k ? "," : "", k);
        text_str(&body, "]");
        struct arrival *arrival = arrive(whole, text_slice(&body));
        assert_int_equal(arrival->n_events, cases[i].events);
        if (cases[i].events == 1)
            assert_string_equal(arrival->events[0].parked_reason, "batch-too-long");
        else
            assert_string_equal(arrival->events[999].id, "#999");
        arrival_free(arrival);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(makes_one_event_of_each_member),
            cmocka_unit_test(reads_members_by_their_own_pointers_and_scope_by_the_body),
            cmocka_unit_test(parks_all_when_the_account_is_not_sure),
            cmocka_unit_test(takes_the_fingerprint_of_a_members_bytes),
            cmocka_unit_test(gives_no_two_members_without_an_id_the_same_one),
            cmocka_unit_test(tells_members_apart_by_their_place_where_a_header_has_the_id),
            cmocka_unit_test(takes_what_must_come_once_for_the_signed_bytes),
            cmocka_unit_test(parks_a_batch_that_is_too_long_as_a_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
