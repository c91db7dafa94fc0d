// The pages docs/policy.md and docs/host-file.md hold a row for every key of the tables, word by
// word; a row that is missing is printed.
#include "common/config/host.h"
#include "common/config/schema_value.h"
#include "tests/unit/common/config/kit.h"

struct page {
    char *text;
    size_t rows, missing;
};

static void add_type(struct text *out, const struct schema_key *key)
{
    bool scalars = key->type == S_MAP && key->of->n_keys == 0;
    const struct schema_key *inner = scalars ? key->of->shorthand : key;
    if (key->shape == LIST)
        text_str(out, "list of ");
    if (key->shape == MAP_OF)
        text_str(out, "map, each ");
    if (scalars && inner->shape == LIST)
        text_str(out, "a list of ");
    text_str(out, key->type == S_MAP && key->shape == LIST ? key->of->name
                                                           : schema_type_name(inner->type));
    for (const struct schema_word *word = key->words; word && word->name; word++)
        text_fmt(out, "%s%s", word == key->words ? ": " : ", ", word->name);
}

static void check_row(void *ctx, const char *section, const struct schema_key *key)
{
    struct page *page = ctx;
    AUTO_TEXT struct text row = {.max = 4096};
    text_fmt(&row, "| `%s%s%s` | ", section, *section ? "." : "", key->name);
    add_type(&row, key);
    if (key->fallback)
        text_fmt(&row, " | `%s` | ", key->fallback);
    else
        text_fmt(&row, " | %s | ", key->required ? "required" : "");
    text_str(&row, key->about ? key->about : "");
    if (key->later)
        text_fmt(&row, ". **Not active yet:** %s", key->later);
    text_str(&row, " |\n");
    page->rows++;
    if (strstr(page->text, text_cstr(&row)))
        return;
    page->missing++;
    print_error("%s", text_cstr(&row));
}

static void check_page(const char *name, const struct schema *schema)
{
    const char *root = getenv("PAWL_ROOT");
    AUTO_FREE char *path = path_join(root ? root : ".", name);
    struct page page = {0};
    size_t len = 0;
    struct err err = {0};
    if (!file_read(path, 1 << 20, &page.text, &len, &err))
        fail_msg("%s", err.msg);
    schema_walk(schema, check_row, &page);
    free(page.text);
    assert_true(page.rows > 20);
    assert_int_equal(page.missing, 0);
}

static void every_key_of_a_policy_is_on_its_page(void **state)
{
    (void)state;
    check_page("docs/policy.md", &policy_schema);
}

static void every_key_of_the_host_file_is_on_its_page(void **state)
{
    (void)state;
    check_page("docs/host-file.md", &host_schema);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(every_key_of_a_policy_is_on_its_page),
            cmocka_unit_test(every_key_of_the_host_file_is_on_its_page),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
