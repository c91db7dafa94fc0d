// The tree: texts stay texts, every node knows its place, and every bound holds.
#include "common/config/yaml.h"
#include "tests/unit/common/config/kit.h"

static struct yaml_doc *read_ok(const char *source)
{
    struct diag diag = {0};
    struct yaml_doc *doc = yaml_doc_read("f", slice_of(source), &diag);
    if (!doc || diag.errors)
        kit_show(&diag);
    assert_non_null(doc);
    assert_int_equal(diag.errors, 0);
    diag_fini(&diag);
    return doc;
}

// The code of the first finding for source; NULL when there is none. The caller frees.
static char *code_of(struct slice source)
{
    struct diag diag = {0};
    yaml_doc_free(yaml_doc_read("f", source, &diag));
    char *code = diag.n ? xstrdup(diag.rows[0].code) : NULL;
    diag_fini(&diag);
    return code;
}

static void scalars_stay_texts(void **state)
{
    (void)state;
    static const char *const words[] = {
            "no", "22:00", "0049151", "null", "~", "1e3", "true", ".inf"};
    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        char source[64];
        snprintf(source, sizeof source, "k: %s\n", words[i]);
        struct yaml_doc *doc = read_ok(source);
        const struct yaml_node *node = yaml_get(&doc->root, "k", NULL);
        assert_row(node && node->kind == YAML_TEXT && !strcmp(node->text, words[i]), words[i]);
        yaml_doc_free(doc);
    }
}

static void nodes_know_their_place_in_characters(void **state)
{
    (void)state;
    struct yaml_doc *doc = read_ok("a: \xc3\xa4\n\xc3\xb6\xc3\xb6: { b: 'c d', e: [f, \"g\"] }\n");
    const struct yaml_node *key = NULL;
    const struct yaml_node *map = yaml_get(&doc->root, "\xc3\xb6\xc3\xb6", &key);
    const struct yaml_node *list = yaml_get(map, "e", NULL);
    static const int want[][3] = {
            {2, 1, 2}, {2, 5, 1}, {2, 10, 5}, {2, 20, 1}, {2, 21, 1}, {2, 24, 3}};
    const struct yaml_node *const nodes[] = {
            key, map, yaml_get(map, "b", NULL), list, &list->items[0], &list->items[1]};
    for (size_t i = 0; i < ARRAY_LEN(nodes); i++) {
        assert_int_equal(nodes[i]->line, want[i][0]);
        assert_int_equal(nodes[i]->column, want[i][1]);
        if (nodes[i]->kind == YAML_TEXT)
            assert_int_equal(nodes[i]->span, want[i][2]);
    }
    yaml_doc_free(doc);
}

static void crlf_is_a_line_end(void **state)
{
    (void)state;
    struct yaml_doc *doc = read_ok("a: b\r\nc: d\r\n");
    assert_int_equal(yaml_get(&doc->root, "c", NULL)->line, 2);
    assert_string_equal(yaml_get(&doc->root, "a", NULL)->text, "b");
    yaml_doc_free(doc);
}

static void eight_levels_are_read(void **state)
{
    (void)state;
    yaml_doc_free(read_ok("[[[[[[[[a]]]]]]]]\n"));
    AUTO_FREE char *code = code_of(SLICE("[[[[[[[[[a]]]]]]]]]\n"));
    assert_string_equal(code, "too-deep");
}

static void brackets_without_end_are_refused_at_once(void **state)
{
    (void)state;
    AUTO_FREE char *source = xmalloc(YAML_FILE_MAX);
    memset(source, '[', YAML_FILE_MAX);
    AUTO_FREE char *code = code_of((struct slice){(unsigned char *)source, YAML_FILE_MAX});
    assert_non_null(code);
}

static void a_file_above_one_mebibyte_is_refused(void **state)
{
    (void)state;
    AUTO_FREE char *source = xmalloc(YAML_FILE_MAX + 1);
    memset(source, ' ', YAML_FILE_MAX + 1);
    memcpy(source, "a: b\n#", 6);
    AUTO_FREE char *large = code_of((struct slice){(unsigned char *)source, YAML_FILE_MAX + 1});
    AUTO_FREE char *fits = code_of((struct slice){(unsigned char *)source, YAML_FILE_MAX});
    assert_string_equal(large, "too-large");
    assert_null(fits);
}

static void a_list_has_at_most_4096_entries(void **state)
{
    (void)state;
    AUTO_TEXT struct text text = {.max = YAML_FILE_MAX};
    text_char(&text, '[');
    for (int i = 0; i < YAML_ITEMS_MAX; i++)
        text_str(&text, "a,");
    AUTO_TEXT struct text more = {.max = YAML_FILE_MAX};
    text_fmt(&more, "%sa]\n", text_cstr(&text));
    text_str(&text, "]\n");
    AUTO_FREE char *fits = code_of(text_slice(&text));
    AUTO_FREE char *large = code_of(text_slice(&more));
    assert_null(fits);
    assert_string_equal(large, "too-large");
}

static void an_alias_bomb_is_refused_before_it_grows(void **state)
{
    (void)state;
    AUTO_FREE char *code = code_of(SLICE("a: &a [x,x]\nb: &b [*a,*a]\nc: [*b,*b]\n"));
    assert_string_equal(code, "anchor");
}

static void all_refusals_of_a_file_are_told(void **state)
{
    (void)state;
    struct diag diag = {0};
    struct yaml_doc *doc =
            yaml_doc_read("f", SLICE("a: &x 1\nb: *x\nc: !t 1\na: 2\n<<: 3\n"), &diag);
    assert_non_null(doc);
    assert_int_equal(diag.errors, 5);
    yaml_doc_free(doc);
    diag_fini(&diag);
}

static void a_shown_text_is_short_and_printable(void **state)
{
    (void)state;
    assert_string_equal(yaml_show(SLICE("a\nb\x1b[0m")).text, "a?b?[0m");
    char text[100];
    memset(text, 'a', sizeof text);
    memcpy(text + 59, "\xc3\xa4", 2); // the cut would fall inside it
    struct yaml_shown shown = yaml_show((struct slice){(unsigned char *)text, sizeof text});
    assert_int_equal(strlen(shown.text), 62);
    assert_string_equal(shown.text + 59, "...");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(scalars_stay_texts),
            cmocka_unit_test(nodes_know_their_place_in_characters),
            cmocka_unit_test(crlf_is_a_line_end),
            cmocka_unit_test(eight_levels_are_read),
            cmocka_unit_test(brackets_without_end_are_refused_at_once),
            cmocka_unit_test(a_file_above_one_mebibyte_is_refused),
            cmocka_unit_test(a_list_has_at_most_4096_entries),
            cmocka_unit_test(an_alias_bomb_is_refused_before_it_grows),
            cmocka_unit_test(all_refusals_of_a_file_are_told),
            cmocka_unit_test(a_shown_text_is_short_and_printable),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
