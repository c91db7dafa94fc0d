// Secrets are files, read whole, told by name only, and wiped.
#include "common/config/policy.h"
#include "tests/unit/common/config/kit.h"

#include <fcntl.h>
#include <sys/stat.h>

static const char *const all_names[] = {
        "pay-2026", "pay-2025", "carrier", "shop", "smtp", "resend", "twilio", "fcm.json"};

struct fixture {
    char dir[32];
    struct policy *policy;
    struct diag diag;
};

static void put(const struct fixture *f, const char *name, struct slice bytes, mode_t mode)
{
    AUTO_FREE char *path = path_join(f->dir, name);
    AUTO_CLOSE int fd = open(path, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes.ptr, bytes.len), bytes.len);
    assert_int_equal(fchmod(fd, mode), 0);
}

static int setup(void **state)
{
    struct fixture *f = xcalloc(1, sizeof *f);
    snprintf(f->dir, sizeof f->dir, "/tmp/pawl-secrets-XXXXXX");
    assert_non_null(mkdtemp(f->dir));
    AUTO_FREE char *body = kit_read("policy.yaml");
    f->policy = kit_policy(body, &f->diag);
    assert_non_null(f->policy);
    diag_fini(&f->diag);
    for (size_t i = 0; i < ARRAY_LEN(all_names); i++)
        put(f, all_names[i], SLICE("hunter2\n"), 0600);
    unsetenv("CREDENTIALS_DIRECTORY");
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    for (size_t i = 0; i < ARRAY_LEN(all_names); i++) {
        AUTO_FREE char *path = path_join(f->dir, all_names[i]);
        remove(path);
    }
    rmdir(f->dir);
    policy_unref(f->policy);
    diag_fini(&f->diag);
    free(f);
    return 0;
}

static struct slice value_of(const struct fixture *f, const char *source, size_t i)
{
    return policy_source(f->policy, slice_of(source))->secrets[i].value;
}

static bool load(struct fixture *f, enum secrets_of which)
{
    return secrets_load(f->policy, f->dir, which, &f->diag);
}

static void receivers_load_the_secrets_of_sources_only(void **state)
{
    struct fixture *f = *state;
    assert_true(load(f, SECRETS_OF_SOURCES));
    assert_int_equal(f->diag.n, 0);
    assert_true(slice_eq(value_of(f, "pay", 0), SLICE("hunter2")));
    assert_true(slice_eq(value_of(f, "pay", 1), SLICE("hunter2")));
    assert_int_equal(f->policy->channels[CHANNEL_EMAIL].providers[0].password.value.len, 0);
}

static void dispatchers_load_the_secrets_of_channels_only(void **state)
{
    struct fixture *f = *state;
    assert_true(load(f, SECRETS_OF_CHANNELS));
    assert_true(slice_eq(
            f->policy->channels[CHANNEL_EMAIL].providers[0].password.value, SLICE("hunter2")));
    assert_true(slice_eq(
            f->policy->channels[CHANNEL_EMAIL].providers[1].password.value, SLICE("hunter2")));
    assert_int_equal(value_of(f, "pay", 0).len, 0);
}

static void what_does_not_run_needs_no_file(void **state)
{
    struct fixture *f = *state;
    // credential:status belongs to a scheme that does not run: there is no such file.
    assert_true(load(f, SECRETS_OF_SOURCES));
    assert_int_equal(value_of(f, "status", 0).len, 0);
}

static void one_line_end_is_taken_off(void **state)
{
    struct fixture *f = *state;
    const struct {
        struct slice file, want;
    } rows[] = {{SLICE("a"), SLICE("a")}, {SLICE("a\n"), SLICE("a")}, {SLICE("a\r\n"), SLICE("a")},
            {SLICE("a\n\n"), SLICE("a\n")}, {SLICE("a\0b\n"), SLICE("a\0b")},
            {SLICE("\xff\n"), SLICE("\xff")}};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        put(f, "shop", rows[i].file, 0600);
        assert_true(load(f, SECRETS_OF_SOURCES));
        assert_true(slice_eq(value_of(f, "shop", 0), rows[i].want));
    }
}

// Loads after shop's file was made wrong; the finding must name file and source, not the value.
static void expect_refused(struct fixture *f, const char *why)
{
    assert_false(load(f, SECRETS_OF_SOURCES));
    assert_int_equal(f->diag.errors, 1);
    const struct diag_row *row = &f->diag.rows[0];
    AUTO_FREE char *path = path_join(f->dir, "shop");
    assert_string_equal(row->file, path);
    if (!strstr(row->text, why) || !strstr(row->text, "source 'shop'"))
        fail_msg("%s", row->text);
    assert_null(strstr(row->text, "hunter2"));
    assert_int_equal(value_of(f, "shop", 0).len, 0);
    assert_true(slice_eq(value_of(f, "pay", 0), SLICE("hunter2"))); // the others are there
}

static void a_missing_file_is_named(void **state)
{
    struct fixture *f = *state;
    AUTO_FREE char *path = path_join(f->dir, "shop");
    assert_int_equal(remove(path), 0);
    expect_refused(f, "can't open");
}

static void an_empty_file_is_refused(void **state)
{
    put(*state, "shop", SLICE(""), 0600);
    expect_refused(*state, "empty");
}

static void a_file_of_a_line_end_is_refused(void **state)
{
    put(*state, "shop", SLICE("\n"), 0600);
    expect_refused(*state, "empty");
}

static void a_file_that_others_can_read_is_refused(void **state)
{
    put(*state, "shop", SLICE("hunter2\n"), 0644);
    expect_refused(*state, "others can read");
}

static void a_folder_is_no_secret(void **state)
{
    struct fixture *f = *state;
    AUTO_FREE char *path = path_join(f->dir, "shop");
    assert_int_equal(remove(path), 0);
    assert_int_equal(mkdir(path, 0700), 0);
    expect_refused(f, "no regular file");
}

static void a_huge_file_is_refused(void **state)
{
    AUTO_FREE char *bytes = xcalloc(1, 70000);
    put(*state, "shop", (struct slice){(unsigned char *)bytes, 70000}, 0600);
    expect_refused(*state, "larger than");
}

static void the_group_may_read(void **state)
{
    struct fixture *f = *state;
    put(f, "shop", SLICE("hunter2\n"), 0640);
    assert_true(load(f, SECRETS_OF_SOURCES));
}

static void systemd_guards_its_own_folder(void **state)
{
    struct fixture *f = *state;
    put(f, "shop", SLICE("hunter2\n"), 0644);
    setenv("CREDENTIALS_DIRECTORY", f->dir, 1);
    bool ok = load(f, SECRETS_OF_SOURCES);
    unsetenv("CREDENTIALS_DIRECTORY");
    assert_true(ok);
}

static void white_space_is_warned_of_and_kept(void **state)
{
    struct fixture *f = *state;
    put(f, "shop", SLICE("hunter2 \n"), 0600);
    assert_true(load(f, SECRETS_OF_SOURCES));
    assert_int_equal(f->diag.warnings, 1);
    assert_null(strstr(f->diag.rows[0].text, "hunter2"));
    assert_true(slice_eq(value_of(f, "shop", 0), SLICE("hunter2 ")));
}

static void no_folder_is_an_error(void **state)
{
    struct fixture *f = *state;
    assert_false(secrets_load(f->policy, NULL, SECRETS_OF_SOURCES, &f->diag));
    assert_int_equal(f->diag.errors, 1);
}

#define WITH_FILES(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
            WITH_FILES(receivers_load_the_secrets_of_sources_only),
            WITH_FILES(dispatchers_load_the_secrets_of_channels_only),
            WITH_FILES(what_does_not_run_needs_no_file),
            WITH_FILES(one_line_end_is_taken_off),
            WITH_FILES(a_missing_file_is_named),
            WITH_FILES(an_empty_file_is_refused),
            WITH_FILES(a_file_of_a_line_end_is_refused),
            WITH_FILES(a_file_that_others_can_read_is_refused),
            WITH_FILES(a_folder_is_no_secret),
            WITH_FILES(a_huge_file_is_refused),
            WITH_FILES(the_group_may_read),
            WITH_FILES(systemd_guards_its_own_folder),
            WITH_FILES(white_space_is_warned_of_and_kept),
            WITH_FILES(no_folder_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
