// The labels are compiled into this test whatever the build says.
#ifndef PAWL_FAULTS
#define PAWL_FAULTS 1
#endif
#include "common/fault.c" // NOLINT(bugprone-suspicious-include)
#include "tests/test.h"

#include <sys/wait.h>

static void set(const char *fault, const char *log)
{
    n_specs = 0;
    memset(passes, 0, sizeof passes);
    setenv("PAWL_FAULT", fault, 1);
    setenv("PAWL_FAULT_LOG", log, 1);
    fault_init();
}

static void fails_once_at_the_named_pass(void **state)
{
    (void)state;
    set("fail@record.before_commit:2", "");
    assert_false(FAULT_FAILS(record_before_commit));
    assert_false(FAULT_FAILS(record_after_lock));
    assert_true(FAULT_FAILS(record_before_commit));
    assert_false(FAULT_FAILS(record_before_commit));
}

static void takes_several_separated_by_commas(void **state)
{
    (void)state;
    set("fail@claim.before_commit,fail@accept.after_keys:1", "");
    assert_true(FAULT_FAILS(claim_before_commit));
    assert_true(FAULT_FAILS(accept_after_keys));
}

// Before what else happens at an exit: the child searches for no leaks among what is its parent's.
static void end_at_once(int status, void *unused)
{
    (void)unused;
    _exit(status);
}

// The way a child ends that passes one label three times.
static int end_of_child(const char *fault)
{
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        int null = open("/dev/null", O_WRONLY);
        dup2(null, STDERR_FILENO);
        on_exit(end_at_once, NULL);
        set(fault, "");
        for (int i = 0; i < 3; i++)
            FAULT_STEP(accept_after_commit);
        _exit(0);
    }
    int status = 0;
    waitpid(pid, &status, WUNTRACED);
    if (WIFSTOPPED(status)) {
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);
    }
    return status;
}

static void crashes_and_stops_the_process_at_the_named_pass(void **state)
{
    (void)state;
    int crashed = end_of_child("crash@accept.after_commit:3");
    assert_true(WIFSIGNALED(crashed) && WTERMSIG(crashed) == SIGKILL);
    int stopped = end_of_child("stop@accept.after_commit:1");
    assert_true(WIFSTOPPED(stopped) && WSTOPSIG(stopped) == SIGSTOP);
    int beyond = end_of_child("crash@accept.after_commit:4");
    assert_true(WIFEXITED(beyond) && WEXITSTATUS(beyond) == 0);
}

static void refuses_what_it_does_not_know(void **state)
{
    (void)state;
    static const char *const rows[] = {"crash@no.such_label", "burn@accept.after_commit",
            "crash@accept.after_commit:0", "accept.after_commit",
            "fail@accept.after_keys,crash@accept"};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        int status = end_of_child(rows[i]);
        assert_row(WIFEXITED(status) && WEXITSTATUS(status) == 78, rows[i]);
    }
}

static void writes_each_pass_to_the_log_file(void **state)
{
    (void)state;
    char path[] = "/tmp/pawl-fault-XXXXXX";
    int fd = mkstemp(path);
    set("", path);
    FAULT_STEP(claim_after_take);
    FAULT_STEP(claim_after_take);
    char got[128] = {0};
    ssize_t n = read(fd, got, sizeof got - 1);
    close(fd);
    unlink(path);
    assert_true(n > 0);
    assert_string_equal(got, "claim.after_take\nclaim.after_take\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(fails_once_at_the_named_pass),
            cmocka_unit_test(takes_several_separated_by_commas),
            cmocka_unit_test(crashes_and_stops_the_process_at_the_named_pass),
            cmocka_unit_test(refuses_what_it_does_not_know),
            cmocka_unit_test(writes_each_pass_to_the_log_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
