#include "tests/test.h"

#include "cli/trigger/body.h"

static struct policy policy = {.locale = (char[]){"en"}, .timezone = (char[]){"UTC"}};
static struct source stripe = {
        .name = (char[]){"stripe"}, .scheme = (char[]){"stripe"}, .active = true};

static bool build(const struct event_rule *rule, const char *const *sets, size_t n_sets,
        struct text *out, struct err *err)
{
    const struct body_wish wish = {.policy = &policy,
            .source = &stripe,
            .rule = rule,
            .order = "1001",
            .event_id = "evt_1",
            .email = "c@example.net",
            .now_s = 1700000000,
            .sets = sets,
            .n_sets = n_sets};
    text_init(out, 4096);
    return body_build(&wish, out, err);
}

static void all_that_the_rule_points_at_is_there(void **state)
{
    (void)state;
    struct map_entry map[] = {{(char[]){"in_transit"}, 1}, {(char[]){"delivered"}, 2}};
    struct field contact[] = {{(char[]){"email"}, (char[]){"/data/object/receipt_email"}},
            {(char[]){"locale"}, (char[]){"/data/object/lines/0/lang"}}};
    struct field data[] = {{(char[]){"amount"}, (char[]){"/data/object/a~1b~0c"}}};
    const struct event_rule rule = {.type = (char[]){"charge.refunded"},
            .order = (char[]){"/data/object/metadata/order_id"},
            .by = (char[]){"/data/object/status"},
            .map = map,
            .n_map = 2,
            .sequence = (char[]){"/data/object/rev"},
            .contact = contact,
            .n_contact = 2,
            .data = data,
            .n_data = 1};
    struct err err;
    AUTO_TEXT struct text out;
    assert_true(build(&rule, NULL, 0, &out, &err));
    assert_string_equal(text_cstr(&out),
            "{\"livemode\":false,\"id\":\"evt_1\",\"type\":\"charge.refunded\",\"created\":"
            "1700000000,"
            "\"data\":{\"object\":{\"metadata\":{\"order_id\":\"1001\"},\"status\":\"in_transit\","
            "\"rev\":1700000000000,\"receipt_email\":\"c@example.net\",\"lines\":[{\"lang\":\"en\"}"
            "],"
            "\"a/b~c\":\"42\"}}}");
}

static void sets_come_last_and_may_be_json(void **state)
{
    (void)state;
    const struct event_rule rule = {.type = (char[]){"t"}, .order = (char[]){"/order"}};
    const char *const sets[] = {"/order=7", "/livemode=true", "/text=two words", "/a/b/1=x", "/e="};
    struct err err;
    AUTO_TEXT struct text out;
    assert_true(build(&rule, sets, ARRAY_LEN(sets), &out, &err));
    assert_string_equal(text_cstr(&out),
            "{\"livemode\":true,\"id\":\"evt_1\",\"type\":\"t\",\"created\":1700000000,\"order\":7,"
            "\"text\":\"two words\",\"a\":{\"b\":[null,\"x\"]},\"e\":\"\"}");
}

static void a_set_that_can_not_be_made_is_refused(void **state)
{
    (void)state;
    const struct event_rule rule = {.type = (char[]){"t"}};
    const char *const wrong[] = {"order=7", "/order", "=x", ""};
    for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
        struct err err = {0};
        AUTO_TEXT struct text out;
        assert_row(!build(&rule, &wrong[i], 1, &out, &err), wrong[i]);
        assert_row(err.kind == ERR_INPUT, wrong[i]);
    }
}

static void a_scheme_that_does_not_run_is_said(void **state)
{
    (void)state;
    struct source other = {.name = (char[]){"x"}, .scheme = (char[]){"nobody"}};
    const struct event_rule rule = {.type = (char[]){"t"}};
    const struct body_wish wish = {.policy = &policy,
            .source = &other,
            .rule = &rule,
            .order = "1",
            .event_id = "e",
            .email = "c@example.net"};
    struct err err = {0};
    AUTO_TEXT struct text out;
    text_init(&out, 4096);
    assert_false(body_build(&wish, &out, &err));
    assert_non_null(strstr(err.msg, "'nobody' is not active yet"));
}

static void a_batch_of_one_is_made_where_requests_hold_many(void **state)
{
    (void)state;
    static const struct {
        const char *scheme, *type, *order, *body;
    } cases[] = {
            {"gocardless", "payments.confirmed", "/links/order",
                    "{\"events\":[{\"id\":\"e\",\"resource_type\":\"payments\",\"action\":"
                    "\"confirmed\",\"created_at\":1700000000,\"links\":{\"order\":\"1\"}}]}"},
            {"sendgrid", "delivered", "/order",
                    "[{\"sg_event_id\":\"e\",\"event\":\"delivered\",\"timestamp\":1700000000,"
                    "\"order\":\"1\"}]"},
            {"meta", "statuses", "/order",
                    "{\"entry\":[{\"changes\":[{\"value\":{\"statuses\":[{\"id\":\"e\","
                    "\"timestamp\":1700000000,\"order\":\"1\",\"status\":\"1\"}]}}]}]}"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO_FREE char *scheme = xstrdup(cases[i].scheme);
        AUTO_FREE char *type = xstrdup(cases[i].type);
        AUTO_FREE char *order = xstrdup(cases[i].order);
        struct source source = {.name = scheme, .scheme = scheme};
        const struct event_rule rule = {.type = type, .order = order};
        const struct body_wish wish = {.policy = &policy,
                .source = &source,
                .rule = &rule,
                .order = "1",
                .event_id = "e",
                .email = "c@example.net",
                .now_s = 1700000000};
        struct err err = {0};
        AUTO_TEXT struct text out = {.max = 4096};
        assert_true(body_build(&wish, &out, &err));
        assert_string_equal(text_cstr(&out), cases[i].body);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(all_that_the_rule_points_at_is_there),
            cmocka_unit_test(sets_come_last_and_may_be_json),
            cmocka_unit_test(a_set_that_can_not_be_made_is_refused),
            cmocka_unit_test(a_scheme_that_does_not_run_is_said),
            cmocka_unit_test(a_batch_of_one_is_made_where_requests_hold_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
