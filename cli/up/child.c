#include "cli/up/child.h"

#include "common/daemon.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static void settle(pid_t parent, struct child_how how)
{
    setpgid(0, 0);
    daemon_die_with_parent(how.death_signal);
    if (getppid() != parent)
        _exit(EXIT_FAILURE); // it went before the request was made
    if (how.log_fd >= 0) {
        dup2(how.log_fd, STDOUT_FILENO);
        dup2(how.log_fd, STDERR_FILENO);
    } else {
        dup2(STDERR_FILENO, STDOUT_FILENO); // stdout carries the command's data alone
    }
}

static bool forked(struct child *child, const char *name, pid_t pid, struct err *err)
{
    if (pid < 0)
        return err_set(err, ERR_TEMP, "can't start %s: %s", name, strerror(errno));
    *child = (struct child){.name = name, .pid = pid};
    return true;
}

bool child_exec(struct child *child, const char *name, char *const *argv, struct child_how how,
        struct err *err)
{
    pid_t parent = getpid(), pid = fork();
    if (pid == 0) {
        sigset_t none;
        settle(parent, how);
        sigemptyset(&none);
        sigprocmask(SIG_SETMASK, &none, NULL);
        signal(SIGPIPE, SIG_DFL);
        execv(argv[0], argv);
        fprintf(stderr, "can't run %s: %s\n", argv[0], strerror(errno));
        _exit(127);
    }
    return forked(child, name, pid, err);
}

bool child_call(struct child *child, const char *name, int (*f)(void *), void *arg,
        struct child_how how, struct err *err)
{
    fflush(NULL); // what is buffered must not be written twice
    pid_t parent = getpid(), pid = fork();
    if (pid == 0) {
        settle(parent, how);
        prctl(PR_SET_NAME, name);
        exit(f(arg));
    }
    return forked(child, name, pid, err);
}

bool child_runs(struct child *child)
{
    if (child->pid == 0 || child->ended)
        return false;
    child->ended = waitpid(child->pid, &child->status, WNOHANG) != 0;
    return !child->ended;
}

void child_signal(const struct child *child, int signal)
{
    if (child->pid > 0 && !child->ended)
        kill(child->pid, signal);
}

char *child_ending(const struct child *child, char out[64])
{
    if (WIFSIGNALED(child->status))
        snprintf(out, 64, "was killed by signal %d", WTERMSIG(child->status));
    else
        snprintf(out, 64, "ended with %d", WEXITSTATUS(child->status));
    return out;
}
