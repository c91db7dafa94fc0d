#include "tests/test.h"

#include "cli/table.h"

static const struct column columns[] = {
        {"at", COLUMN_TEXT}, {"wire_ms", COLUMN_NUMBER}, {"detail", COLUMN_TEXT}};

static void fill(struct table *table)
{
    table_init(table, columns, ARRAY_LEN(columns));
    table_cell(table, SLICE("12:00"));
    table_cell_fmt(table, "%d", 7);
    table_cell(table, SLICE("a\tb\x1b[31m \xc3\xa4\xe2\x80\xaez"));
    table_cell(table, SLICE("13:00:00"));
    table_cell(table, (struct slice){0});
    table_cell(table, SLICE("\"x\""));
}

static void a_pipe_gets_tabs_and_whole_cells(void **state)
{
    (void)state;
    AUTO_TABLE struct table table;
    AUTO_TEXT struct text out;
    fill(&table);
    text_init(&out, 4096);
    table_text(&table, 0, &out);
    assert_string_equal(text_cstr(&out), "AT\tWIRE MS\tDETAIL\n"
                                         "12:00\t7\ta b [31m \xc3\xa4 z\n"
                                         "13:00:00\t-\t\"x\"\n");
}

static void a_terminal_gets_columns_cut_to_its_width(void **state)
{
    (void)state;
    AUTO_TABLE struct table table;
    AUTO_TEXT struct text out;
    fill(&table);
    text_init(&out, 4096);
    table_text(&table, 24, &out);
    assert_string_equal(text_cstr(&out), "AT        WIRE MS  DETAI\n"
                                         "12:00     7        a b [\n"
                                         "13:00:00  -        \"x\"\n");
}

static void json_keeps_kinds(void **state)
{
    (void)state;
    AUTO_TABLE struct table table;
    AUTO_TEXT struct text out;
    fill(&table);
    text_init(&out, 4096);
    table_json(&table, &out);
    assert_non_null(strstr(text_cstr(&out), "{\"items\":[{\"at\":\"12:00\",\"wire_ms\":7,"));
    assert_non_null(strstr(text_cstr(&out),
            ",{\"at\":\"13:00:00\",\"wire_ms\":null,\"detail\":\"\\\"x\\\"\"}],"
            "\"next\":null,\"more\":false}\n"));
}

static void texts_of_others_lose_their_controls(void **state)
{
    (void)state;
    AUTO_TEXT struct text out;
    text_init(&out, 4096);
    text_add_shown(&out, SLICE("a\n\tb\x1b]0;x\x07\xc2\x9b\x7f\xff."));
    assert_string_equal(text_cstr(&out), "a\n\tb ]0;x    .");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(a_pipe_gets_tabs_and_whole_cells),
            cmocka_unit_test(a_terminal_gets_columns_cut_to_its_width),
            cmocka_unit_test(json_keeps_kinds),
            cmocka_unit_test(texts_of_others_lose_their_controls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
