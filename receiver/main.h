// main.h: the receiver as a process: configuration, policy, loops, admin listener, signals.
#pragma once
#include "common/base.h"

struct receiver_options {
    const char *config;   // the host file
    const char *role;     // the database login role; NULL = pawl_receiver
    const char *listen;   // replaces receiver.listen of the host file; NULL = as it says
    const char *admin;    // replaces the admin address; NULL = the host file's first
    bool die_with_parent; // below `pawl up`: ends when the parent goes away
};

// Runs until SIGTERM or SIGINT; SIGHUP loads policy and secrets again. Returns the exit code: 0
// after a drain, 69 when something outside is not there (database, port taken), 78 when the
// configuration or the database's settings are refused (sysexits.h).
int receiver_main(const struct receiver_options *options);
