// child.h: the processes below `pawl up`: started so that they end with it, whatever ends it.
#pragma once
#include "common/err.h"

#include <sys/types.h>

struct child {
    const char *name;
    pid_t pid;  // 0 = not started
    bool ended; // status is valid
    int status; // of waitpid
};

// In the child: own process group (a ^C goes to the parent alone, which ends them in order), killed
// by death_signal when the parent is gone, output to log_fd (-1 = the parent's stderr).
struct child_how {
    int death_signal;
    int log_fd;
};

// Starts a program; argv[0] is its path.
MUST_CHECK bool child_exec(struct child *child, const char *name, char *const *argv,
        struct child_how how, struct err *err);
// Runs f(arg) in a fork of this process; its result is the exit status.
MUST_CHECK bool child_call(struct child *child, const char *name, int (*f)(void *), void *arg,
        struct child_how how, struct err *err);

// True while it runs; after its end status is set.
bool child_runs(struct child *child);
void child_signal(const struct child *child, int signal); // no-op when it does not run
// "ended with 69", "was killed by signal 9".
char *child_ending(const struct child *child, char out[64]);
