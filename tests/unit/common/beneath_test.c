#include "common/beneath.h"
#include "tests/test.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static char root[64], folder[80];

static void at(const char *name, char out[200])
{
    snprintf(out, 200, "%s/%s", root, name);
}

static void put(const char *name, const char *text)
{
    char path[200];
    at(name, path);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_true(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
    close(fd);
}

static void put_link(const char *target, const char *name)
{
    char path[200];
    at(name, path);
    assert_int_equal(symlink(target, path), 0);
}

static int set_up(void **state)
{
    (void)state;
    char path[200];
    snprintf(root, sizeof root, "/tmp/pawl-beneath-XXXXXX");
    assert_non_null(mkdtemp(root));
    snprintf(folder, sizeof folder, "%s/files", root);
    static const char *const folders[] = {"files", "files/sub", "files/sub/deep", "other"};
    for (size_t i = 0; i < ARRAY_LEN(folders); i++) {
        at(folders[i], path);
        assert_int_equal(mkdir(path, 0700), 0);
    }
    put("secret", "outside");
    put("files/a.pdf", "a");
    put("files/.hidden", "h");
    put("files/sub/deep/b.pdf", "b");
    put_link("../secret", "files/out");
    put_link("a.pdf", "files/in");
    put_link("sub", "files/dirlink");
    put_link("../other", "files/outdir");
    put("other/c.pdf", "c");
    at("files/pipe", path);
    assert_int_equal(mkfifo(path, 0600), 0);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    static const char *const names[] = {"files/a.pdf", "files/.hidden", "files/sub/deep/b.pdf",
            "files/out", "files/in", "files/dirlink", "files/outdir", "files/pipe", "other/c.pdf",
            "secret", "files/sub/deep", "files/sub", "files", "other", ""};
    char path[200];
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        at(names[i], path);
        remove(path);
    }
    return 0;
}

typedef bool open_fn(const char *folder, const char *path, int *ret_fd, struct err *err);
static open_fn *const ways[] = {beneath_open, beneath_walk};

static void reads_a_regular_file_below_the_folder(void **state)
{
    (void)state;
    static const char *const names[] = {"a.pdf", ".hidden", "sub/deep/b.pdf"};
    for (size_t i = 0; i < ARRAY_LEN(names) * ARRAY_LEN(ways); i++) {
        const char *name = names[i % ARRAY_LEN(names)];
        struct err err = {0};
        int fd = -1;
        char got[8] = "";
        assert_row(ways[i / ARRAY_LEN(names)](folder, name, &fd, &err), name);
        assert_int_equal(read(fd, got, sizeof got), 1);
        close(fd);
    }
}

static void nothing_else_is_opened_whatever_the_way(void **state)
{
    (void)state;
    static const struct {
        const char *path, *why;
    } rows[] = {
            {"missing.pdf", "no such file"},
            {"sub/missing.pdf", "no such file"},
            {"out", "symbolic link"},
            {"in", "symbolic link"},
            {"dirlink/deep/b.pdf", "symbolic link"},
            {"outdir/c.pdf", "symbolic link"},
            {"a.pdf/x", "no folder"},
            {"pipe", "not a regular file"},
            {"sub", "not a regular file"},
            {"../secret", "'..'"},
            {"sub/../a.pdf", "'..'"},
            {"..", "'..'"},
            {"./a.pdf", "'.'"},
            {".", "'.'"},
            {"sub//b.pdf", "nothing between"},
            {"sub/", "nothing between"},
            {"/etc/passwd", "absolute"},
            {"", "empty"},
            {"a\n.pdf", "control character"},
            {"a\x7f", "control character"},
            {"a\xff.pdf", "not UTF-8"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows) * ARRAY_LEN(ways); i++) {
        const char *path = rows[i / ARRAY_LEN(ways)].path;
        struct err err = {0};
        int fd = -1;
        assert_row(!ways[i % ARRAY_LEN(ways)](folder, path, &fd, &err), path);
        assert_row(err.kind == ERR_INPUT && fd == -1, path);
        assert_row(strstr(err.msg, rows[i / ARRAY_LEN(ways)].why) != NULL, err.msg);
    }
}

static void long_paths_are_refused(void **state)
{
    (void)state;
    char path[BENEATH_PATH_MAX + 2];
    struct err err = {0};
    memset(path, 'x', sizeof path);
    path[BENEATH_NAME_MAX + 1] = '\0';
    assert_false(beneath_path_ok(path, &err));
    path[BENEATH_NAME_MAX] = '\0';
    assert_true(beneath_path_ok(path, &err));
    for (size_t i = 0; i < sizeof path; i++)
        path[i] = i % 10 == 9 ? '/' : 'x';
    path[BENEATH_PATH_MAX + 1] = '\0';
    assert_false(beneath_path_ok(path, &err));
    assert_non_null(strstr(err.msg, "longer than 512"));
    path[BENEATH_PATH_MAX] = '\0';
    assert_true(beneath_path_ok(path, &err));
}

static void a_folder_that_is_away_is_no_fault_of_the_file(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(ways); i++) {
        struct err err = {0};
        int fd = -1;
        assert_false(ways[i]("/tmp/pawl-no-such-folder", "a.pdf", &fd, &err));
        assert_int_equal(err.kind, ERR_TEMP);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(reads_a_regular_file_below_the_folder),
            cmocka_unit_test(nothing_else_is_opened_whatever_the_way),
            cmocka_unit_test(long_paths_are_refused),
            cmocka_unit_test(a_folder_that_is_away_is_no_fault_of_the_file),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
