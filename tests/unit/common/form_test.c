#include "common/form.h"
#include "common/text.h"
#include "tests/test.h"

#define PAIRS_MAX 4

static void decodes_as_the_url_standard_says(void **state)
{
    (void)state;
    static const struct {
        const char *name, *body;
        const char *pairs[2 * PAIRS_MAX]; // name, value, ..
    } cases[] = {
            {"one", "a=b", {"a", "b"}},
            {"two", "a=b&c=d", {"a", "b", "c", "d"}},
            {"nothing", "", {NULL}},
            {"only separators", "&&&", {NULL}},
            {"empty pieces", "&a=b&&c=d&", {"a", "b", "c", "d"}},
            {"no value", "a", {"a", ""}},
            {"empty value", "a=", {"a", ""}},
            {"no name", "=b", {"", "b"}},
            {"second equals", "a=b=c", {"a", "b=c"}},
            {"plus", "a+b=c+d", {"a b", "c d"}},
            {"percent", "%41=%c3%A9", {"A", "\xc3\xa9"}},
            {"plus written out", "a=%2B", {"a", "+"}},
            {"separators written out", "a=%26%3D", {"a", "&="}},
            {"percent alone", "a=%", {"a", "%"}},
            {"percent cut", "a=%4", {"a", "%4"}},
            {"percent with letters", "a=%zz%4g", {"a", "%zz%4g"}},
            {"percent at the end of the name", "%=%41", {"%", "A"}},
            {"percent twice", "a=%2541", {"a", "%41"}},
            {"the same twice", "a=1&a=1", {"a", "1", "a", "1"}},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO_FORM struct form form = {.n = 0};
        assert_row(form_parse(slice_of(cases[i].body), &form, NULL), cases[i].name);
        size_t n = 0;
        for (; n < PAIRS_MAX && cases[i].pairs[2 * n]; n++) {
            assert_row(n < form.n, cases[i].name);
            assert_row(
                    slice_eq(form.pairs[n].name, slice_of(cases[i].pairs[2 * n])), cases[i].name);
            assert_row(slice_eq(form.pairs[n].value, slice_of(cases[i].pairs[2 * n + 1])),
                    cases[i].name);
        }
        assert_row(form.n == n, cases[i].name);
    }
}

static void keeps_any_byte(void **state)
{
    (void)state;
    AUTO_FORM struct form form = {.n = 0};
    assert_true(form_parse(SLICE("a=%00%ff\0"), &form, NULL));
    assert_true(slice_eq(form.pairs[0].value, SLICE("\0\xff\0")));
}

static void sorts_by_bytes_names_before_values(void **state)
{
    (void)state;
    AUTO_FORM struct form form = {.n = 0};
    assert_true(form_parse(SLICE("b=1&_=1&B=2&B=1&%C3%A9=1&Ba=0"), &form, NULL));
    form_sort(&form);
    AUTO_TEXT struct text all = {.max = 100};
    for (size_t i = 0; i < form.n; i++) {
        text_add(&all, form.pairs[i].name);
        text_add(&all, form.pairs[i].value);
        text_char(&all, ' ');
    }
    assert_string_equal(text_cstr(&all), "B1 B2 Ba0 _1 b1 \xc3\xa9"
                                         "1 ");
}

static void is_bounded(void **state)
{
    (void)state;
    AUTO_TEXT struct text body = {.max = 1 << 16};
    for (int i = 0; i < FORM_PAIRS_MAX; i++)
        text_str(&body, "a&");
    AUTO_FORM struct form form = {.n = 0};
    assert_true(form_parse(text_slice(&body), &form, NULL));
    assert_int_equal(form.n, FORM_PAIRS_MAX);
    text_str(&body, "a");
    struct err err = {0};
    struct form more = {.n = 0};
    assert_false(form_parse(text_slice(&body), &more, &err));
    assert_int_equal(err.kind, ERR_INPUT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(decodes_as_the_url_standard_says),
            cmocka_unit_test(keeps_any_byte),
            cmocka_unit_test(sorts_by_bytes_names_before_values),
            cmocka_unit_test(is_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
