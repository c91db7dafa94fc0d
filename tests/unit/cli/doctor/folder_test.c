// A folder is seen as the user would see it, and no look takes longer than it may.
#include "tests/test.h"

#include "cli/doctor/folder.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SOON_MS = 20000 };

static char root[] = "/tmp/pawl-folder-XXXXXX";

static char *in_root(const char *name)
{
    char *path = xmalloc(sizeof root + 64);
    snprintf(path, sizeof root + 64, "%s/%s", root, name);
    return path;
}

static void make(const char *name, mode_t mode)
{
    AUTO_FREE char *path = in_root(name);
    assert_int_equal(mkdir(path, 0700), 0);
    assert_int_equal(chmod(path, mode), 0);
}

static int set_up(void **state)
{
    (void)state;
    assert_non_null(mkdtemp(root));
    assert_int_equal(chmod(root, 0711), 0);
    make("open", 0755);
    make("shut", 0700);
    make("shut/below", 0755);
    make("unlisted", 0711);
    AUTO_FREE char *file = in_root("file");
    AUTO_CLOSE int fd = open(file, O_CREAT | O_WRONLY | O_CLOEXEC, 0644);
    return fd >= 0 ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    static const char *const names[] = {"open", "shut/below", "shut", "unlisted"};
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        AUTO_FREE char *path = in_root(names[i]);
        rmdir(path);
    }
    AUTO_FREE char *file = in_root("file");
    unlink(file);
    return rmdir(root);
}

static void what_stands_in_the_way_is_told(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        enum folder_state own, of_nobody;
    } rows[] = {{"open", FOLDER_FINE, FOLDER_FINE}, {"shut", FOLDER_FINE, FOLDER_SHUT},
            {"shut/below", FOLDER_FINE, FOLDER_SHUT}, {"unlisted", FOLDER_FINE, FOLDER_SHUT},
            {"none", FOLDER_MISSING, FOLDER_MISSING},
            {"file/below", FOLDER_MISSING, FOLDER_MISSING},
            {"file", FOLDER_NO_FOLDER, FOLDER_NO_FOLDER}};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO_FREE char *path = in_root(rows[i].name);
        assert_row(folder_look(path, NULL, SOON_MS) == rows[i].own, rows[i].name);
        if (geteuid() == 0)
            assert_row(folder_look(path, "nobody", SOON_MS) == rows[i].of_nobody, rows[i].name);
    }
}

static void a_user_that_is_not_there_sees_nothing(void **state)
{
    (void)state;
    assert_int_equal(folder_look(root, "no-such-user", SOON_MS), FOLDER_UNKNOWN);
}

static void a_look_without_an_answer_is_left_behind(void **state)
{
    (void)state;
    assert_int_equal(folder_look(root, NULL, -1), FOLDER_SILENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_stands_in_the_way_is_told),
            cmocka_unit_test(a_user_that_is_not_there_sees_nothing),
            cmocka_unit_test(a_look_without_an_answer_is_left_behind)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
