#include "receiver/reject/lines.h"
#include "tests/test.h"

static void hides_secrets_and_not_signatures(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        bool want;
    } cases[] = {{"authorization", true}, {"Proxy-Authorization", true}, {"cookie", true},
            {"set-cookie2", true}, {"x-gitlab-token", true}, {"x-hook-secret", true},
            {"x-api-key", true}, {"apikey", true}, {"x-password", true},
            {"stripe-signature", false}, {"x-hub-signature-256", false},
            {"x-shopify-hmac-sha256", false}, {"paypal-auth-algo", false}, {"digest", false},
            {"idempotency-key", false}, {"klarna-signing-key-id", false}, {"content-type", false},
            {"", false}};
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        if (lines_hide(slice_of(cases[i].name)) != cases[i].want)
            fail_msg("%s", cases[i].name);
}

static void gives_back_what_was_added(void **state)
{
    (void)state;
    const struct {
        struct slice name, value;
        bool hidden;
    } cases[] = {{SLICE("a"), SLICE("1"), false}, {SLICE("b"), SLICE(""), false},
            {SLICE("c"), SLICE("x: y=z "), false}, {SLICE("d"), SLICE("\xff\t\x80"), false},
            {SLICE("e"), SLICE("abc"), true}, {SLICE("f"), SLICE("=sha256:00"), false}};
    AUTO_TEXT struct text out;
    struct line line;
    text_init(&out, LINES_MAX);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        assert_true(lines_add(&out, cases[i].name, cases[i].value, cases[i].hidden));
    // sha256("abc") starts with ba7816bf8f01.
    assert_non_null(strstr(text_cstr(&out), "\ne=sha256:ba7816bf8f01\n"));
    assert_null(strstr(text_cstr(&out), "abc"));
    struct slice rest = text_slice(&out);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        assert_true(lines_next(&rest, &line));
        assert_true(slice_eq(line.name, cases[i].name));
        assert_true(line.hidden == cases[i].hidden);
        assert_true(line.hidden || slice_eq(line.value, cases[i].value));
    }
    assert_false(lines_next(&rest, &line));
}

static void leaves_out_a_line_that_does_not_fit(void **state)
{
    (void)state;
    AUTO_TEXT struct text out;
    text_init(&out, 10);
    assert_true(lines_add(&out, SLICE("a"), SLICE("1"), false));
    assert_false(lines_add(&out, SLICE("b"), SLICE("123456"), false));
    assert_false(lines_add(&out, SLICE("b"), SLICE("1"), true));
    assert_true(lines_add(&out, SLICE("c"), SLICE("2"), false));
    assert_string_equal(text_cstr(&out), "a: 1\nc: 2\n");
}

static void reads_nothing_where_there_is_no_line(void **state)
{
    (void)state;
    static const char *const cases[] = {"", "a: 1", "\n", ": 1\n", "=1\n", "a\n", "a:\n"};
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct slice rest = slice_of(cases[i]);
        struct line line;
        if (lines_next(&rest, &line))
            fail_msg("'%s'", cases[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(hides_secrets_and_not_signatures),
            cmocka_unit_test(gives_back_what_was_added),
            cmocka_unit_test(leaves_out_a_line_that_does_not_fit),
            cmocka_unit_test(reads_nothing_where_there_is_no_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
