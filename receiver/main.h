// main.h: the receiver as a process: configuration, policy, loops, admin listener, signals.
#pragma once
#include "common/base.h"

struct receiver_options {
    const char *config;   // the host file
    const char *listen;   // replaces receiver.listen of the host file; NULL = as it says
    const char *admin;    // replaces the admin address; NULL = the host file's first
    bool die_with_parent; // below `pawl up`: ends when the parent goes away
};

// Runs until SIGTERM or SIGINT; SIGHUP loads policy and secrets again. Returns the exit code: 0
// after a drain, 69 when something outside is not there (a port is taken), 78 when the
// configuration or the database's settings or schema are refused (sysexits.h). A database that
// can't be reached is no reason to end: requests are answered 503 until it is there.
int receiver_main(const struct receiver_options *options);
