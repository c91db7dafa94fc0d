// main.h: the dispatcher as a process: configuration, the loop, admin listener, signals.
#pragma once
#include "common/base.h"

struct dispatcher_options {
    const char *config;   // the host file
    const char *role;     // the database login role; NULL = pawl_dispatcher
    const char *admin;    // replaces the admin address; NULL = the host file's first, port + 1
    bool die_with_parent; // below `pawl up`: ends when the parent goes away
};

// Runs until SIGTERM or SIGINT; SIGHUP loads policy and credentials again. Returns the exit code: 0
// after a drain, 69 when something outside is not there (the admin port taken), 78 when the
// configuration or the database's settings are refused (sysexits.h).
int dispatcher_main(const struct dispatcher_options *options);
