// uses.h: writes down when each secret last matched, for `pawl keys list`: once a minute at most.
//
// The loops only mark the secret itself (secret_used), so nothing waits for it. A thread of its own
// opens a connection for each write. What was used in the last minute before a kill is lost.
#pragma once
#include "common/config/policy.h"

struct uses;

struct uses_options {
    const char *conninfo;                 // borrowed; the login role pawl_receiver is added
    struct policy *(*policy)(void *user); // a reference to the one in use, or NULL
    void *user;
};
MUST_CHECK struct uses *uses_start(const struct uses_options *options, struct err *err);

// Writes what there is, when the database answers at once, and ends the thread. NULL is fine.
void uses_stop(struct uses *uses);
