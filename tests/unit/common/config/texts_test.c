// Reading the files a policy is made of.
#include "common/config/policy.h"
#include "tests/unit/common/config/kit.h"

#include <fcntl.h>
#include <ftw.h>
#include <sys/stat.h>

static int setup(void **state)
{
    char *dir = xstrdup("/tmp/pawl-texts-XXXXXX");
    assert_non_null(mkdtemp(dir));
    *state = dir;
    return 0;
}

static int unlink_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st;
    (void)type;
    (void)ftw;
    return remove(path);
}

static int teardown(void **state)
{
    int rc = nftw(*state, unlink_one, 8, FTW_DEPTH | FTW_PHYS);
    free(*state);
    return rc;
}

// Makes the file and the folders above it.
static void put(const char *dir, const char *name, struct slice bytes)
{
    AUTO_FREE char *path = path_join(dir, name);
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(path, 0700);
        *slash = '/';
    }
    AUTO_CLOSE int fd = open(path, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes.ptr, bytes.len), bytes.len);
}

static void patterns_are_read_once_each_in_order(void **state)
{
    const char *dir = *state;
    put(dir, "policy.yaml", SLICE("a"));
    put(dir, "policies.d/20.yaml", SLICE("c"));
    put(dir, "policies.d/10.yaml", SLICE("b\0b"));
    put(dir, "policies.d/notes.txt", SLICE("x"));
    char *patterns[] = {(char[]){"policy.yaml"}, (char[]){"policies.d/*.yaml"},
            (char[]){"none.d/*.yaml"}, (char[]){"policies.d/10.yaml"}};
    struct policy_text *texts = NULL;
    size_t n = 0;
    struct err err = {0};
    assert_true(policy_read_files(dir, patterns, 4, &texts, &n, &err));
    assert_int_equal(n, 3);
    AUTO_FREE char *second = path_join(dir, "policies.d/10.yaml");
    assert_string_equal(texts[1].path, second);
    assert_int_equal(texts[1].len, 3);
    assert_memory_equal(texts[1].body, "b\0b", 4);
    policy_texts_free(texts, n);
}

static void a_name_that_is_not_there_is_an_error(void **state)
{
    char *patterns[] = {(char[]){"policy.yaml"}};
    struct policy_text *texts = NULL;
    size_t n = 0;
    struct err err = {0};
    assert_false(policy_read_files(*state, patterns, 1, &texts, &n, &err));
    assert_int_equal(err.kind, ERR_NOTFOUND);
    assert_null(texts);
}

static void a_file_that_is_too_large_is_an_error(void **state)
{
    AUTO_FREE char *bytes = xcalloc(1, (1 << 20) + 1);
    put(*state, "policy.yaml", (struct slice){(unsigned char *)bytes, (1 << 20) + 1});
    char *patterns[] = {(char[]){"*.yaml"}};
    struct policy_text *texts = NULL;
    size_t n = 0;
    struct err err = {0};
    assert_false(policy_read_files(*state, patterns, 1, &texts, &n, &err));
    assert_non_null(strstr(err.msg, "larger than"));
}

static void templates_are_named_below_their_folder(void **state)
{
    const char *dir = *state;
    put(dir, "receipt/email.en.text.mustache", SLICE("b"));
    put(dir, "receipt/email.en.subject.mustache", SLICE("a"));
    put(dir, "receipt/.hidden.mustache", SLICE("x"));
    put(dir, "receipt/README.md", SLICE("x"));
    put(dir, "partials/foot.mustache", SLICE("f"));
    struct policy_text *texts = NULL;
    size_t n = 0;
    struct err err = {0};
    assert_true(policy_read_templates(dir, &texts, &n, &err));
    assert_int_equal(n, 3);
    assert_string_equal(texts[0].path, "partials/foot.mustache");
    assert_string_equal(texts[1].path, "receipt/email.en.subject.mustache");
    assert_string_equal(texts[2].body, "b");
    policy_texts_free(texts, n);
}

static void a_folder_that_is_not_there_has_no_templates(void **state)
{
    AUTO_FREE char *dir = path_join(*state, "none");
    struct policy_text *texts = NULL;
    size_t n = 9;
    struct err err = {0};
    assert_true(policy_read_templates(dir, &texts, &n, &err));
    assert_int_equal(n, 0);
    policy_texts_free(texts, n);
}

static void a_link_to_its_own_folder_ends(void **state)
{
    AUTO_FREE char *link = path_join(*state, "loop");
    assert_int_equal(symlink(".", link), 0);
    struct policy_text *texts = NULL;
    size_t n = 0;
    struct err err = {0};
    assert_false(policy_read_templates(*state, &texts, &n, &err));
    assert_non_null(strstr(err.msg, "nested too deep"));
}

static void a_template_that_is_too_large_is_an_error(void **state)
{
    AUTO_FREE char *bytes = xcalloc(1, (256 << 10) + 1);
    put(*state, "a/b.mustache", (struct slice){(unsigned char *)bytes, (256 << 10) + 1});
    struct policy_text *texts = NULL;
    size_t n = 0;
    struct err err = {0};
    assert_false(policy_read_templates(*state, &texts, &n, &err));
}

static void paths_join_as_written(void **state)
{
    (void)state;
    static const char *const rows[][3] = {{"a", "b", "a/b"}, {"a/", "b", "a/b"}, {".", "b", "b"},
            {"", "b", "b"}, {"a", "/b", "/b"}, {"/", "b", "/b"}};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO_FREE char *path = path_join(rows[i][0], rows[i][1]);
        assert_string_equal(path, rows[i][2]);
    }
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
            IN_FOLDER(patterns_are_read_once_each_in_order),
            IN_FOLDER(a_name_that_is_not_there_is_an_error),
            IN_FOLDER(a_file_that_is_too_large_is_an_error),
            IN_FOLDER(templates_are_named_below_their_folder),
            IN_FOLDER(a_folder_that_is_not_there_has_no_templates),
            IN_FOLDER(a_link_to_its_own_folder_ends),
            IN_FOLDER(a_template_that_is_too_large_is_an_error),
            cmocka_unit_test(paths_join_as_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
