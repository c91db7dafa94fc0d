// The required part of the Mustache suite (https://github.com/mustache/spec) and its inheritance,
// read where PAWL_SHARED says.
#include "common/template/template.h"

#include "tests/test.h"

#include <jansson.h>
#include <stdio.h>

static void suite_path(const char *file, char *path, size_t size)
{
    const char *shared = getenv("PAWL_SHARED"), *root = getenv("PAWL_ROOT");
    if (shared)
        snprintf(path, size, "%s/mustache-spec/%s.json", shared, file);
    else
        snprintf(path, size, "%s/../shared/mustache-spec/%s.json", root ? root : ".", file);
}

struct partials {
    const char *names[8];
    struct template *templates[8];
    size_t n;
};

static const struct template *find_partial(void *ctx, struct slice name)
{
    const struct partials *partials = ctx;
    for (size_t i = 0; i < partials->n; i++)
        if (slice_eq(name, slice_of(partials->names[i])))
            return partials->templates[i];
    return NULL;
}

static struct template *parse(const char *name, const char *source)
{
    struct err err = {0};
    struct template *t = template_new(name, slice_of(source), &err);
    if (!t)
        fail_msg("%s", err.msg);
    return t;
}

static void load_partials(json_t *test, struct partials *partials)
{
    const char *name;
    json_t *source;
    json_object_foreach(json_object_get(test, "partials"), name, source)
    {
        assert_true(partials->n < ARRAY_LEN(partials->names));
        partials->names[partials->n] = name;
        partials->templates[partials->n++] = parse(name, json_string_value(source));
    }
}

static void run_case(const char *file, json_t *test)
{
    const char *name = json_string_value(json_object_get(test, "name"));
    const char *want = json_string_value(json_object_get(test, "expected"));
    struct template *t = parse(name, json_string_value(json_object_get(test, "template")));
    struct partials partials = {0};
    load_partials(test, &partials);
    struct template_how how = {TEMPLATE_HTML, true, find_partial, &partials};
    AUTO_TEXT struct text out = {.max = 10000};
    struct err err = {0};
    AUTO_FREE char *data = json_dumps(json_object_get(test, "data"), JSON_ENCODE_ANY);
    AUTO_JSON_TREE struct json_tree values = {0};
    assert_true(json_tree_read(&values, slice_of(data), NULL));
    if (!template_expand(t, &how, values.nodes, &out, &err))
        fail_msg("%s: %s: %s", file, name, err.msg);
    if (strcmp(text_cstr(&out), want) != 0)
        fail_msg("%s: %s: want \"%s\", got \"%s\"", file, name, want, text_cstr(&out));
    template_free(t);
    for (size_t i = 0; i < partials.n; i++)
        template_free(partials.templates[i]);
}

static void expands_every_case_of_the_suite_that_is_promised(void **state)
{
    (void)state;
    static const struct {
        const char *file;
        size_t cases;
    } files[] = {
            {"comments", 12},
            {"delimiters", 14},
            {"interpolation", 42},
            {"inverted", 22},
            {"partials", 12},
            {"sections", 34},
            {"~inheritance", 27},
    };
    for (size_t i = 0; i < ARRAY_LEN(files); i++) {
        char path[4096];
        suite_path(files[i].file, path, sizeof path);
        json_error_t error;
        json_t *suite = json_load_file(path, 0, &error);
        if (!suite) {
            print_message("skipped: the Mustache suite is not at %s (%s)\n", path, error.text);
            skip();
        }
        json_t *tests = json_object_get(suite, "tests");
        assert_row(json_array_size(tests) == files[i].cases, files[i].file);
        size_t k;
        json_t *test;
        json_array_foreach(tests, k, test) run_case(files[i].file, test);
        json_decref(suite);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(expands_every_case_of_the_suite_that_is_promised),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
