// A policy of several files, and the example that is shared.
#include "common/config/policy.h"
#include "tests/unit/common/config/kit.h"

static struct policy *of_files(const char *const (*files)[2], size_t n, struct diag *diag)
{
    struct policy_text texts[4];
    for (size_t i = 0; i < n; i++)
        texts[i] = kit_text(files[i][0], files[i][1], strlen(files[i][1]));
    struct policy *policy = policy_new(texts, n, NULL, 0, &kit_known, diag);
    for (size_t i = 0; i < n; i++) {
        free(texts[i].path);
        free(texts[i].body);
    }
    return policy;
}

#define SOURCE(name)                                                                               \
    "pawl: 1\nsources:\n  " name                                                                   \
    ": { scheme: app, secrets: [credential:x], events: { e: { order: /o, to: a } } }\n"
#define FLOW "pawl: 1\norders: { path: [a], create: [a] }\n"

static void sections_of_named_things_join_over_files(void **state)
{
    (void)state;
    static const char *const files[][2] = {
            {"b.yaml", SOURCE("two")}, {"a.yaml", SOURCE("one")}, {"c.yaml", FLOW}};
    struct diag diag = {0};
    struct policy *policy = of_files(files, 3, &diag);
    if (!policy)
        kit_show(&diag);
    assert_non_null(policy);
    assert_int_equal(policy->n_sources, 2);
    assert_string_equal(policy->sources[0].name, "one"); // by path
    policy_unref(policy);
    diag_fini(&diag);
}

static void a_name_defined_in_two_files_is_told_with_the_first(void **state)
{
    (void)state;
    static const char *const same[][2] = {{"a.yaml", SOURCE("one")}, {"b.yaml", SOURCE("one")},
            {"c.yaml", FLOW}, {"d.yaml", FLOW}};
    struct diag diag = {0};
    assert_null(of_files(same, 4, &diag));
    assert_int_equal(diag.errors, 2);
    assert_string_equal(diag.rows[0].file, "b.yaml");
    assert_int_equal(diag.rows[0].line, 3);
    assert_non_null(strstr(diag.rows[0].text, "(first at a.yaml:3:3)"));
    assert_string_equal(diag.rows[1].file, "d.yaml");
    assert_non_null(strstr(diag.rows[1].text, "'orders' is defined again (first at c.yaml:2:1)"));
    diag_fini(&diag);
}

static void every_file_is_read_even_when_one_is_broken(void **state)
{
    (void)state;
    static const char *const files[][2] = {
            {"a.yaml", "pawl: 1\nx: [\n"}, {"b.yaml", "pawl: 1\n\ty"}, {"c.yaml", "sources: {}\n"}};
    struct diag diag = {0};
    assert_null(of_files(files, 3, &diag));
    assert_int_equal(diag.errors, 3);
    diag_fini(&diag);
    assert_null(policy_new(NULL, 0, NULL, 0, NULL, &diag));
    assert_string_equal(diag.rows[0].code, "no-files");
    diag_fini(&diag);
}

static void the_fingerprint_is_of_texts_not_of_folders(void **state)
{
    (void)state;
    static const char *const a[][2] = {{"x/1.yaml", FLOW}, {"x/2.yaml", SOURCE("one")}};
    static const char *const b[][2] = {{"y/2.yaml", SOURCE("one")}, {"y/1.yaml", FLOW}};
    static const char *const c[][2] = {{"x/1.yaml", FLOW}, {"x/2.yaml", SOURCE("two")}};
    struct diag diag = {0};
    struct policy *one = of_files(a, 2, &diag), *same = of_files(b, 2, &diag),
                  *other = of_files(c, 2, &diag);
    assert_int_equal(strlen(one->sha256), 64);
    assert_string_equal(one->sha256, same->sha256);
    assert_string_not_equal(one->sha256, other->sha256);
    policy_unref(one);
    policy_unref(same);
    policy_unref(other);
    diag_fini(&diag);
}

// The example that people start from, where it is beside this tree.
static void the_shared_example_loads_as_it_stands(void **state)
{
    (void)state;
    const char *shared = getenv("PAWL_SHARED"), *root = getenv("PAWL_ROOT");
    AUTO_FREE char *dir = shared ? xstrdup(shared) : path_join(root ? root : ".", "../shared");
    AUTO_FREE char *example = path_join(dir, "example");
    if (access(example, R_OK) != 0)
        skip();
    struct policy_text *files = NULL;
    size_t n = 0;
    struct err err = {0};
    char *patterns[] = {(char[]){"policy.yaml"}, (char[]){"policies.d/*.yaml"}};
    if (!policy_read_files(example, patterns, 2, &files, &n, &err))
        fail_msg("%s", err.msg);
    struct diag diag = {0};
    struct policy *policy = policy_new(files, n, NULL, 0, &kit_known, &diag);
    if (!policy)
        kit_show(&diag);
    assert_non_null(policy);
    assert_int_equal(diag.errors, 0);
    assert_int_equal(policy->n_sources, 5);
    assert_int_equal(policy->n_messages, 4);
    policy_unref(policy);
    policy_texts_free(files, n);
    diag_fini(&diag);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(sections_of_named_things_join_over_files),
            cmocka_unit_test(a_name_defined_in_two_files_is_told_with_the_first),
            cmocka_unit_test(every_file_is_read_even_when_one_is_broken),
            cmocka_unit_test(the_fingerprint_is_of_texts_not_of_folders),
            cmocka_unit_test(the_shared_example_loads_as_it_stands),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
