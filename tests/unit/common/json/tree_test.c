// A document as an array of values: what is found in it, and what is none.
#include "common/json/tree.h"

#include "tests/test.h"

#include <stdio.h>

static const char *text_at(const struct json_tree *tree, const char *first, const char *second)
{
    static char room[64];
    const struct json_node *node = json_tree_member(tree->nodes, slice_of(first));
    if (second)
        node = json_tree_member(node, slice_of(second));
    if (!node || node->text.len >= sizeof room)
        return NULL;
    memcpy(room, node->text.ptr, node->text.len);
    room[node->text.len] = '\0';
    return room;
}

static void finds_members_and_decodes_their_texts(void **state)
{
    (void)state;
    AUTO_JSON_TREE struct json_tree tree = {0};
    struct slice doc = SLICE(" {\"a\":\"x\",\"b\":{\"a\":\"\\u00e9\\n\\uD83D\\uDE00\",\"\\u0062\":"
                             "12.50},\"a\":\"later\","
                             "\"\":true,\"e\":{},\"n\":98765432109876543210} ");
    assert_true(json_tree_read(&tree, doc, NULL));
    assert_int_equal(tree.nodes[0].kind, JSON_KIND_OBJECT);
    assert_int_equal(tree.nodes[0].n, 6);
    assert_int_equal(tree.nodes[0].size, 9);
    assert_string_equal(text_at(&tree, "a", NULL), "x"); // the first of that name
    assert_string_equal(text_at(&tree, "b", "a"), "é\n\xf0\x9f\x98\x80");
    assert_string_equal(text_at(&tree, "b", "b"), "12.50");
    assert_string_equal(text_at(&tree, "", NULL), "true");
    assert_string_equal(text_at(&tree, "n", NULL), "98765432109876543210");
    assert_null(text_at(&tree, "c", NULL));
    assert_null(text_at(&tree, "a", "a"));
    assert_null(json_tree_next(json_tree_member(tree.nodes, SLICE("e")), NULL));
}

static void walks_elements_over_what_is_in_them(void **state)
{
    (void)state;
    AUTO_JSON_TREE struct json_tree tree = {0};
    assert_true(json_tree_read(&tree, SLICE("[[1,[2]],{\"x\":[3]},\"\\u0000\",null]"), NULL));
    const struct json_node *at = NULL;
    enum json_kind want[] = {JSON_KIND_ARRAY, JSON_KIND_OBJECT, JSON_KIND_STRING, JSON_KIND_NULL};
    for (size_t i = 0; i < ARRAY_LEN(want); i++) {
        at = json_tree_next(tree.nodes, at);
        assert_non_null(at);
        assert_int_equal(at->kind, want[i]);
        assert_null(at->name.ptr);
        if (at->kind == JSON_KIND_STRING)
            assert_int_equal(at->text.len, 1);
    }
    assert_null(json_tree_next(tree.nodes, at));
}

static void is_empty_after_what_it_could_not_read(void **state)
{
    (void)state;
    static const char *const cases[] = {
            "", "{", "{\"a\":1,}", "nul", "\"\\ud800\"", "{\"\\udc00\":1}", "\"\xff\"", "1 2"};
    AUTO_JSON_TREE struct json_tree tree = {0};
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct err err = {0};
        assert_true(json_tree_read(&tree, SLICE("[\"\\t\",1,2,3]"), NULL));
        assert_row(!json_tree_read(&tree, slice_of(cases[i]), &err), cases[i]);
        assert_row(tree.n == 0 && err.kind == ERR_INPUT, cases[i]);
    }
}

// What it decoded of one document is not in the way of the next, which is longer.
static void reads_one_document_after_another(void **state)
{
    (void)state;
    AUTO_JSON_TREE struct json_tree tree = {0};
    AUTO_TEXT struct text doc = {.max = 10000};
    for (int n = 1; n < 200; n += 7) {
        text_reset(&doc);
        text_str(&doc, "{");
        for (int i = 0; i < n; i++)
            text_fmt(&doc, "%s\"m%d\":\"\\\"%d\"", i ? "," : "", i, i);
        text_str(&doc, "}");
        assert_true(json_tree_read(&tree, text_slice(&doc), NULL));
        assert_int_equal(tree.nodes->n, n);
        char name[16], want[16];
        snprintf(name, sizeof name, "m%d", n - 1);
        snprintf(want, sizeof want, "\"%d", n - 1);
        assert_string_equal(text_at(&tree, name, NULL), want);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(finds_members_and_decodes_their_texts),
            cmocka_unit_test(walks_elements_over_what_is_in_them),
            cmocka_unit_test(is_empty_after_what_it_could_not_read),
            cmocka_unit_test(reads_one_document_after_another),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
