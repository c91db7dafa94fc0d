// Events of schemes that say things beside a JSON body: in headers, in forms, with a time of their
// own.
#include "receiver/accept/read.h"
#include "receiver/accept/read_more.h"

#include "tests/test.h"

#define NOW 1795961472

static char shop[] = "shop", scheme[] = "twilio", sent[] = "sent", opened[] = "pull_request.opened",
            push_type[] = "push", order_ptr[] = "/Order", json_ptr[] = "/order";
static struct event_rule rules[] = {{.type = sent, .order = order_ptr, .to = 0, .notify = -1},
        {.type = opened, .order = json_ptr, .to = 0, .notify = -1},
        {.type = push_type, .order = json_ptr, .to = 0, .notify = -1}};
static struct source sources[] = {
        {.name = shop, .scheme = scheme, .events = rules, .n_events = ARRAY_LEN(rules)}};
static const struct policy policy = {
        .sources = sources, .n_sources = 1, .keep_keys_s = 45 * INT64_C(86400)};

static const char *const scope[] = {"/AccountSid", NULL}, *const status[] = {
                                                                  "/MessageStatus", NULL};
static const struct read_pointers form_pointers = {
        .id = "/MessageSid", .id_more = status, .type = "/MessageStatus", .scope = scope};
static const struct read_pointers header_pointers = {
        .type = "/action", .header_id = true, .header_type = true, .unsigned_id = true};

static struct arrival *arrive(const struct read_pointers *with, bool form, struct slice body,
        const char *id, const char *type)
{
    struct arrival *arrival = arrival_new(SLICE("shop"), body, slice_of(id), slice_of(type));
    arrival->form = form;
    arrival->received_us = NOW * INT64_C(1000000);
    read_events(arrival, &policy, with);
    assert_int_equal(arrival->n_events, 1);
    return arrival;
}

static bool same(const char *got, const char *want)
{
    return want ? got && strcmp(got, want) == 0 : got == NULL;
}

static void reads_a_form_as_a_flat_object(void **state)
{
    (void)state;
    static const struct {
        const char *name, *body, *reason, *id, *order;
    } cases[] = {
            {"plain", "MessageSid=SM1&MessageStatus=sent&Order=7", NULL, "SM1:sent", "7"},
            {"encoded", "MessageSid=%53M1&MessageStatus=sent&Order=a+b%2f", NULL, "SM1:sent",
                    "a b/"},
            {"digits are a text", "MessageSid=1&MessageStatus=sent&Order=007", NULL, "1:sent",
                    "007"},
            {"digits beyond 64 bits", "MessageSid=98765432109876543210&MessageStatus=sent&Order=1",
                    NULL, "98765432109876543210:sent", "1"},
            {"id twice", "MessageSid=SM1&MessageSid=SM2&MessageStatus=sent", "duplicate-member",
                    NULL, NULL},
            {"id twice the same", "MessageSid=SM1&MessageSid=SM1&MessageStatus=sent",
                    "duplicate-member", NULL, NULL},
            {"id twice, one written out", "MessageSid=SM1&%4DessageSid=SM2&MessageStatus=sent",
                    "duplicate-member", NULL, NULL},
            {"status twice", "MessageSid=SM1&MessageStatus=sent&MessageStatus=failed",
                    "duplicate-member", NULL, NULL},
            {"no id", "MessageStatus=sent", "no-id", NULL, NULL},
            {"empty id", "MessageSid=&MessageStatus=sent", "bad-id", NULL, NULL},
            {"separator in the first part", "MessageSid=a%3Ab&MessageStatus=sent&Order=1", NULL,
                    "a%3Ab:sent", "1"},
            {"NUL in the id", "MessageSid=a%00&MessageStatus=sent", "bad-id", NULL, NULL},
            {"no order", "MessageSid=SM1&MessageStatus=sent", "no-order", "SM1:sent", NULL},
            {"unmapped", "MessageSid=SM1&MessageStatus=failed", NULL, "SM1:failed", NULL},
            {"empty", "", "no-id", NULL, NULL},
            {"JSON where a form is said to be", "{\"MessageSid\":\"SM1\"}", "no-id", NULL, NULL},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct arrival *arrival = arrive(&form_pointers, true, slice_of(cases[i].body), "", "");
        const struct event *event = arrival->events;
        if (!same(event->parked_reason, cases[i].reason))
            fail_msg("%s: %s", cases[i].name, event->parked_reason);
        if (cases[i].id)
            assert_string_equal(event->id, cases[i].id);
        else
            assert_row(strncmp(event->id, "arrival:", 8) == 0, cases[i].name);
        assert_row(same(event->order_id, cases[i].order), cases[i].name);
        arrival_free(arrival);
    }
}

static void takes_id_and_type_from_headers(void **state)
{
    (void)state;
    static const struct {
        const char *name, *id, *type, *body, *reason, *want;
    } cases[] = {
            {"type of the header", "d-1", "push", "{\"order\":\"1\"}", NULL, "push"},
            {"and of the body", "d-1", "pull_request", "{\"order\":\"1\",\"action\":\"opened\"}",
                    NULL, "pull_request.opened"},
            {"no id", "", "push", "{\"order\":\"1\"}", "no-id", "push"},
            {"id that is no text", "d\x01", "push", "{\"order\":\"1\"}", "bad-id", "push"},
            {"no type", "d-1", "", "{\"order\":\"1\"}", "no-type", NULL},
            {"action twice", "d-1", "push", "{\"action\":\"a\",\"action\":\"b\"}",
                    "duplicate-member", NULL},
            {"action that is no text", "d-1", "push", "{\"action\":{}}", "bad-type", NULL},
            {"not JSON", "d-1", "push", "a=b", "unreadable", NULL},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct arrival *arrival = arrive(
                &header_pointers, false, slice_of(cases[i].body), cases[i].id, cases[i].type);
        const struct event *event = arrival->events;
        assert_row(same(event->parked_reason, cases[i].reason), cases[i].name);
        assert_row(same(event->type, cases[i].want), cases[i].name);
        // Only what is sure of its id keeps the signed bytes from others.
        assert_row(event->unsigned_id == !cases[i].reason, cases[i].name);
        arrival_free(arrival);
    }
}

static void tells_signed_bytes_apart_by_every_byte(void **state)
{
    (void)state;
    struct arrival *one =
            arrive(&header_pointers, false, SLICE("{\"order\":\"1\"}"), "d-1", "push");
    struct arrival *same_bytes =
            arrive(&header_pointers, false, SLICE("{\"order\":\"1\"}"), "d-2", "issues");
    struct arrival *other =
            arrive(&header_pointers, false, SLICE("{\"order\":\"1\"} "), "d-1", "push");
    const unsigned char *digest = one->events->signed_digest;
    assert_memory_equal(digest, same_bytes->events->signed_digest, 32);
    assert_memory_not_equal(digest, other->events->signed_digest, 32);
    arrival_free(one);
    arrival_free(same_bytes);
    arrival_free(other);
}

static void tells_an_event_as_late_when_its_own_time_is_before_the_window(void **state)
{
    (void)state;
    static const struct {
        const char *name, *time;
        bool late, demanded;
        const char *reason;
    } cases[] = {
            {"now", "1795961472", false, true, NULL},
            {"the last second of the window", "1792073472", false, true, NULL},
            {"a second before it", "1792073471", true, true, NULL},
            {"milliseconds", "1792073471000", true, true, NULL},
            {"milliseconds within", "1792073472000", false, true, NULL},
            {"a text", "\"1792073471\"", true, true, NULL},
            {"a fraction", "1792073471.999", true, true, NULL},
            {"a date", "\"2026-10-15T14:11:11Z\"", true, true, NULL},
            {"a date within", "\"2026-10-15T14:11:12.000Z\"", false, true, NULL},
            {"of another zone", "\"2026-10-15T16:11:11.5+02:00\"", true, true, NULL},
            {"of another zone, within", "\"2026-10-15T09:11:12-05:00\"", false, true, NULL},
            {"the future", "1895961472", false, true, NULL},
            {"absent", NULL, false, false, NULL},
            {"null", "null", false, false, NULL},
            {"unreadable", "\"yesterday\"", false, false, NULL},
            {"absent where the policy demands it", NULL, false, true, "no-time"},
            {"unreadable where it is demanded", "\"yesterday\"", false, true, "bad-time"},
            {"no month", "\"2026-13-15T14:11:11Z\"", false, true, "bad-time"},
            {"no zone", "\"2026-10-15T14:11:11\"", false, true, "bad-time"},
            {"an exponent", "1.7e9", false, true, "bad-time"},
            {"an object", "{}", false, true, "bad-time"},
            {"twice", "1,\"at\":1795961472", false, false, "duplicate-member"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const struct read_pointers with = {
                .id = "/id", .type = "/type", .time = "/at", .time_demanded = cases[i].demanded};
        AUTO_TEXT struct text body = {.max = 1000};
        text_str(&body, "{\"id\":\"e1\",\"type\":\"sent\",\"Order\":\"1\"");
        if (cases[i].time)
            text_fmt(&body, ",\"at\":%s", cases[i].time);
        text_str(&body, "}");
        struct arrival *arrival = arrive(&with, false, text_slice(&body), "", "");
        const struct event *event = arrival->events;
        if (!same(event->parked_reason, cases[i].reason))
            fail_msg("%s: %s", cases[i].name, event->parked_reason);
        assert_row(event->late == cases[i].late, cases[i].name);
        bool means = !cases[i].late && !cases[i].reason;
        assert_row(means == (event->rule != NULL) && means == (event->order_id != NULL),
                cases[i].name);
        assert_string_equal(event->id, "e1");
        arrival_free(arrival);
    }
}

static void reads_a_text_that_is_a_document_as_one(void **state)
{
    (void)state;
    static const struct {
        const char *name, *body, *reason, *id, *type, *order;
    } cases[] = {
            {"an object",
                    "{\"id\":\"e1\",\"Message\":\"{\\\"type\\\":\\\"sent\\\",\\\"order\\\":[7]}\"}",
                    NULL, "e1", "sent", "7"},
            {"with escapes of its own",
                    "{\"id\":\"e1\",\"Message\":\"{\\u0022type\\u0022:\\\"\\\\u0073ent\\\",\\n"
                    "\\\"order\\\":[\\\"\\\\\\\"\\\"]}\"}",
                    NULL, "e1", "sent", "\""},
            {"not wholly JSON", "{\"id\":\"e1\",\"Message\":\"{\\\"type\\\":\\\"sent\\\"},\"}",
                    "no-type", "e1", NULL, NULL},
            {"would close what holds it",
                    "{\"id\":\"e1\",\"Message\":\"1},{\\\"id\\\":\\\"e2\\\"\"}", "no-type", "e1",
                    NULL, NULL},
            {"a text", "{\"id\":\"e1\",\"Message\":\"sent\"}", "no-type", "e1", NULL, NULL},
            {"an object that is no text",
                    "{\"id\":\"e1\",\"Message\":{\"type\":\"sent\",\"order\":[7]}}", NULL, "e1",
                    "sent", "7"},
            {"a name twice in it",
                    "{\"id\":\"e1\",\"Message\":\"{\\\"type\\\":\\\"sent\\\",\\\"type\\\":1}\"}",
                    "duplicate-member", "e1", NULL, NULL},
            {"there twice",
                    "{\"id\":\"e1\",\"Message\":\"{\\\"type\\\":\\\"sent\\\"}\",\"Message\":\"\"}",
                    "duplicate-member", "e1", NULL, NULL},
            {"no text of UTF-8", "{\"id\":\"e1\",\"Message\":\"\\ud800\"}", "no-type", "e1", NULL,
                    NULL},
    };
    static char inner_ptr[] = "/Message/order/0";
    const struct read_pointers with = {.id = "/id", .type = "/Message/type", .inner = "/Message"};
    rules[0].order = inner_ptr;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct arrival *arrival = arrive(&with, false, slice_of(cases[i].body), "", "");
        const struct event *event = arrival->events;
        if (!same(event->parked_reason, cases[i].reason))
            fail_msg("%s: %s", cases[i].name, event->parked_reason);
        assert_row(same(event->id, cases[i].id), cases[i].name);
        assert_row(same(event->type, cases[i].type), cases[i].name);
        assert_row(same(event->order_id, cases[i].order), cases[i].name);
        arrival_free(arrival);
    }
    rules[0].order = order_ptr;
}

static void reads_the_xml_of_a_form_as_one(void **state)
{
    (void)state;
    // <n><kind>sent</kind><s><order>7</order></s></n>
    struct slice body = SLICE("bt_signature=x&bt_payload=PG4%2BPGtpbmQ%2Bc2VudDwva2luZD48cz48b3Jk"
                              "ZXI%2BNzwvb3JkZXI%2BPC9zPjwvbj4K%0A");
    static char inner_ptr[] = "/bt_payload/n/s/order";
    const struct read_pointers with = {.id_digest = true,
            .type = "/bt_payload/n/kind",
            .inner = "/bt_payload",
            .inner_xml = true};
    rules[0].order = inner_ptr;
    struct arrival *arrival = arrive(&with, true, body, "", "");
    assert_null(arrival->events->parked_reason);
    assert_string_equal(arrival->events->type, "sent");
    assert_string_equal(arrival->events->order_id, "7");
    assert_int_equal(strncmp(arrival->events->id, "sha256:", 7), 0);
    arrival_free(arrival);
    rules[0].order = order_ptr;
}

// As deep as a document may be, it must not become deeper by what it holds.
static void reads_a_text_as_it_is_where_its_document_would_be_too_deep(void **state)
{
    (void)state;
    AUTO_TEXT struct text body = {.max = 1000};
    text_str(&body, "{\"id\":\"e1\",\"type\":\"other\",\"Message\":\"");
    for (int i = 0; i < JSON_DEPTH_MAX; i++)
        text_char(&body, '[');
    for (int i = 0; i < JSON_DEPTH_MAX; i++)
        text_char(&body, ']');
    text_str(&body, "\"}");
    const struct read_pointers with = {.id = "/id", .type = "/type", .inner = "/Message"};
    struct arrival *arrival = arrive(&with, false, text_slice(&body), "", "");
    assert_null(arrival->events->parked_reason);
    assert_string_equal(arrival->events->id, "e1");
    arrival_free(arrival);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(reads_a_form_as_a_flat_object),
            cmocka_unit_test(takes_id_and_type_from_headers),
            cmocka_unit_test(tells_signed_bytes_apart_by_every_byte),
            cmocka_unit_test(reads_a_text_that_is_a_document_as_one),
            cmocka_unit_test(reads_the_xml_of_a_form_as_one),
            cmocka_unit_test(reads_a_text_as_it_is_where_its_document_would_be_too_deep),
            cmocka_unit_test(tells_an_event_as_late_when_its_own_time_is_before_the_window),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
