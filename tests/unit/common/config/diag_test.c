// How findings look.
#include "common/config/yaml.h"
#include "tests/unit/common/config/kit.h"

static struct diag_row row_at(const char *file, int line, int column, const char *text)
{
    return (struct diag_row){.file = xstrdup(file),
            .line = line,
            .column = column,
            .span = 3,
            .text = xstrdup(text),
            .code = xstrdup("code"),
            .source_line = xstrdup("once: abc # x")};
}

static void add(struct diag *diag, struct diag_row row)
{
    diag_add(diag, &row);
    free(row.file);
    free(row.text);
    free(row.code);
    free(row.source_line);
    free(row.opened_source_line);
}

static void expect(const struct diag *diag, const char *want)
{
    AUTO_TEXT struct text out = {.max = 1 << 16};
    diag_print(diag, &out);
    assert_string_equal(text_cstr(&out), want);
}

static void a_finding_has_place_line_and_caret(void **state)
{
    (void)state;
    struct diag diag = {0};
    add(&diag, row_at("a.yaml", 3, 7, "no good"));
    expect(&diag, "a.yaml:3:7: error: no good [code]\n"
                  "    3 | once: abc # x\n"
                  "      |       ^~~\n");
    diag_fini(&diag);
}

static void findings_are_sorted_by_file_and_place(void **state)
{
    (void)state;
    static const struct {
        const char *file;
        int line, column;
    } places[] = {{"b", 1, 1}, {"a", 10, 1}, {"a", 2, 9}, {"a", 2, 3}};
    struct diag diag = {0};
    for (size_t i = 0; i < ARRAY_LEN(places); i++) {
        struct diag_row row = row_at(places[i].file, places[i].line, places[i].column, "x");
        free(steal(&row.source_line));
        add(&diag, row);
    }
    expect(&diag, "a:2:3: error: x [code]\na:2:9: error: x [code]\na:10:1: error: x [code]\n"
                  "b:1:1: error: x [code]\n");
    diag_fini(&diag);
}

static void the_mark_ends_with_the_line(void **state)
{
    (void)state;
    struct diag diag = {0};
    struct diag_row row = row_at("a", 1, 12, "x");
    row.span = 40;
    add(&diag, row);
    expect(&diag, "a:1:12: error: x [code]\n"
                  "    1 | once: abc # x\n"
                  "      |            ^~\n");
    diag_fini(&diag);
}

static void levels_are_counted_and_named(void **state)
{
    (void)state;
    struct diag diag = {0};
    diag_file(&diag, DIAG_ERROR, "f", "e", "one %d", 1);
    diag_file(&diag, DIAG_WARNING, NULL, "w", "two");
    diag_file(&diag, DIAG_INACTIVE, "f", "i", "three");
    assert_int_equal(diag.errors, 1);
    assert_int_equal(diag.warnings, 1);
    assert_int_equal(diag.inactive, 1);
    expect(&diag, "warning: two [w]\nf: error: one 1 [e]\nf: note: three [i]\n");
    diag_fini(&diag);
}

static void an_error_seen_late_shows_where_it_began(void **state)
{
    (void)state;
    struct diag diag = {0};
    assert_null(yaml_doc_read("f", SLICE("a: [b,\nc: d\n\ne: f\n"), &diag));
    expect(&diag, "f:4:2: error: did not find expected ',' or ']' while parsing a flow sequence "
                  "[syntax]\n"
                  "    4 | e: f\n"
                  "      |  ^\n"
                  "f:1:4: note: opened here\n"
                  "    1 | a: [b,\n"
                  "      |    ^\n");
    diag_fini(&diag);
}

static void json_has_counts_and_rows(void **state)
{
    (void)state;
    struct diag diag = {0};
    struct diag_row row = row_at("a\"b", 3, 7, "say \\ \n");
    add(&diag, row);
    diag_file(&diag, DIAG_INACTIVE, NULL, "i", "later");
    AUTO_TEXT struct text out = {.max = 1 << 16};
    diag_json(&diag, &out);
    assert_string_equal(text_cstr(&out),
            "{\"errors\":1,\"warnings\":0,\"inactive\":1,\"findings\":["
            "{\"level\":\"inactive\",\"file\":null,\"line\":0,\"column\":0,\"span\":0,\"code\":"
            "\"i\","
            "\"text\":\"later\"},"
            "{\"level\":\"error\",\"file\":\"a\\\"b\",\"line\":3,\"column\":7,\"span\":3,"
            "\"code\":\"code\",\"text\":\"say \\\\ \\u000a\"}]}");
    diag_fini(&diag);
}

static void more_than_a_thousand_are_counted_only(void **state)
{
    (void)state;
    struct diag diag = {0};
    for (int i = 0; i < DIAG_ROWS_MAX + 7; i++)
        diag_file(&diag, DIAG_ERROR, "f", "c", "x");
    assert_int_equal(diag.n, DIAG_ROWS_MAX);
    assert_int_equal(diag.errors, DIAG_ROWS_MAX + 7);
    AUTO_TEXT struct text out = {.max = 1 << 20};
    diag_print(&diag, &out);
    assert_non_null(strstr(text_cstr(&out), "7 more findings are not shown\n"));
    diag_fini(&diag);
}

static void a_secret_written_out_is_not_shown(void **state)
{
    (void)state;
    AUTO_FREE char *good = kit_read("policy.yaml");
    char *at = strstr(good, "credential:carrier");
    memcpy(at, "whsec_hunter2-1234", strlen("credential:carrier"));
    struct diag diag = {0};
    assert_null(kit_policy(good, &diag));
    AUTO_TEXT struct text out = {.max = 1 << 20}, json = {.max = 1 << 20};
    diag_print(&diag, &out);
    diag_json(&diag, &json);
    assert_non_null(kit_find(&diag, "credential"));
    assert_null(strstr(text_cstr(&out), "hunter2"));
    assert_null(strstr(text_cstr(&json), "hunter2"));
    diag_fini(&diag);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(a_finding_has_place_line_and_caret),
            cmocka_unit_test(findings_are_sorted_by_file_and_place),
            cmocka_unit_test(the_mark_ends_with_the_line),
            cmocka_unit_test(levels_are_counted_and_named),
            cmocka_unit_test(an_error_seen_late_shows_where_it_began),
            cmocka_unit_test(json_has_counts_and_rows),
            cmocka_unit_test(more_than_a_thousand_are_counted_only),
            cmocka_unit_test(a_secret_written_out_is_not_shown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
