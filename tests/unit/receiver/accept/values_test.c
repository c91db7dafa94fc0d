#include "receiver/accept/values.h"

#include "tests/test.h"

static const struct {
    const char *name, *source, *scope, *id, *want;
} events[] = {
        {"all parts", "stripe", "acct_1:true", "evt_1", "stripe/acct_1:true/evt_1"},
        {"no scope", "shop", "", "k", "shop//k"},
        {"the scope can't end early", "s", "a/b%", "c", "s/a%2Fb%25/c"},
        {"the id stands as it is", "s", "a", "b%/c", "s/a/b%/c"},
};

static void an_event_has_a_name_of_its_own_among_sources_and_scopes(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(events); i++) {
        AUTO_FREE char *got = values_event_name(events[i].source, events[i].scope, events[i].id);
        assert_string_equal(got, events[i].want);
    }
}

static void a_text_with_a_control_character_is_none(void **state)
{
    (void)state;
    static const struct {
        const char *object, *want;
    } rows[] = {{"{\"e\":\"a@b\"}", "a@b"},
            {"{\"e\":\"\\u00e4\\u20ac@b\"}", "\xc3\xa4\xe2\x82\xac@b"},
            {"{\"e\":\"a\\n@b\"}", NULL}, {"{\"e\":\"a\\u007f@b\"}", NULL},
            {"{\"e\":\"a\\u0085@b\"}", NULL}, {"{\"e\":\"a\\u009b@b\"}", NULL},
            {"{\"e\":\"a\\u2028@b\"}", NULL}, {"{\"e\":\"a\\u2029@b\"}", NULL},
            {"{\"e\":\"\"}", NULL}, {"{\"e\":\"123456789\"}", NULL}};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO_FREE char *got = values_text(rows[i].object, "e", 8);
        if (!rows[i].want)
            assert_null(got);
        else
            assert_string_equal(got, rows[i].want);
    }
}

static void what_an_order_lacks_is_filled_in_and_nothing_else(void **state)
{
    (void)state;
    static const struct {
        const char *kept, *more, *want; // want NULL: unchanged
    } rows[] = {{"{}", "{\"e\":\"a\"}", "{\"e\":\"a\"}"}, {"{\"e\":\"a\"}", "{\"e\":\"a\"}", NULL},
            {"{\"e\":\"a\"}", "{\"e\":\"b\"}", NULL}, {"{\"e\":\"a\"}", "{}", NULL},
            {"{\"e\":null}", "{\"e\":\"b\"}", "{\"e\":\"b\"}"},
            {"{\"e\":null}", "{\"e\":null}", NULL},
            {"{\"e\":\"a\"}", "{\"e\":\"b\",\"f\":1}", "{\"e\":\"a\",\"f\":1}"}};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO_FREE char *kept = xstrdup(rows[i].kept);
        bool too_large = false;
        assert_int_equal(values_fill(&kept, rows[i].more, &too_large), rows[i].want != NULL);
        assert_false(too_large);
        assert_string_equal(kept, rows[i].want ? rows[i].want : rows[i].kept);
    }
}

static void what_an_order_has_no_room_for_is_told_and_not_taken(void **state)
{
    (void)state;
    AUTO_TEXT struct text more = {.max = 2 * VALUES_MAX};
    text_str(&more, "{\"e\":\"");
    while (more.len < VALUES_MAX - 2)
        text_char(&more, 'x');
    text_str(&more, "\"}");
    AUTO_FREE char *kept = xstrdup("{}");
    bool too_large = false;
    assert_true(values_fill(&kept, text_cstr(&more), &too_large));
    assert_false(too_large);
    assert_false(values_fill(&kept, "{\"f\":1}", &too_large));
    assert_true(too_large);
    assert_int_equal(strlen(kept), VALUES_MAX);
    too_large = false;
    assert_false(values_fill(&kept, "{\"e\":1}", &too_large));
    assert_false(too_large);
}

static void a_name_inside_a_value_is_no_member(void **state)
{
    (void)state;
    assert_null(values_text("{\"a\":\"timezone\"}", "timezone", 64));
    assert_null(values_text("{\"timezones\":\"x\"}", "timezone", 64));
    AUTO_FREE char *got = values_text("{\"a\":\"timezone\",\"timezone\":\"UTC\"}", "timezone", 64);
    assert_string_equal(got, "UTC");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(an_event_has_a_name_of_its_own_among_sources_and_scopes),
            cmocka_unit_test(a_text_with_a_control_character_is_none),
            cmocka_unit_test(what_an_order_lacks_is_filled_in_and_nothing_else),
            cmocka_unit_test(what_an_order_has_no_room_for_is_told_and_not_taken),
            cmocka_unit_test(a_name_inside_a_value_is_no_member)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
