// starter.h: the configuration `pawl up` starts with when it is given none: files in its directory.
#pragma once
#include "common/config/host.h"
#include "common/err.h"

enum { STARTER_SINK_PORT = 2525, STARTER_PORT = 8080, STARTER_ADMIN_PORT = 9464 };

// Writes policy.yaml, templates/ and credentials/ (generated secrets) below dir; what is there
// already stays as it is.
MUST_CHECK bool starter_write(const char *dir, struct err *err);

// The port of the SMTP server on this machine that dir/policy.yaml names first, if it is the one
// that was written there for the sink; 0 = mail goes to another server.
int starter_sink_port(const char *dir);
// The sink has this port now: writes it there.
MUST_CHECK bool starter_set_sink_port(const char *dir, int from, int to, struct err *err);

struct starter_host {
    const char *dir;              // where pawl.yaml goes
    const char *database;         // connection string without a role
    int port, admin_port;         // of the receiver, of the first admin listener
    const struct host_config *of; // the user's own host file, or NULL for the starter's
};
// Writes dir/pawl.yaml, the host file of this run.
MUST_CHECK bool starter_host_write(const struct starter_host *host, struct err *err);
