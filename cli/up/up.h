// up.h: `pawl up`: PostgreSQL, receiver, dispatcher and a mail sink below one process.
#pragma once
#include "cli/command.h"
#include "cli/up/cluster.h"
#include "cli/up/place.h"
#include "cli/up/ports.h"

struct up {
    const struct call *call;
    const char *name; // "up" or "demo"
    struct place place;
    int lock_fd, signal_fd;
    bool ending;   // it was asked to end
    bool terminal; // it was started from one
    struct cluster cluster;
    struct ports ports;
    struct child receiver, dispatcher, sink;
    int port, admin_port, sink_port; // sink_port 0 = none
    char config[512];                // the host file of this run
    char mails[512];                 // the sink's folder
    char database[512];              // connection string without a role
};

// Starts everything and returns when it is ready; what was started is in up also on failure.
// Becomes another user when root. Findings of a policy are told; err says why it failed.
MUST_CHECK bool up_start(struct up *up, const struct call *call, const char *name, struct err *err);

// Is there a controlling terminal, one that has not hung up?
bool up_has_terminal(void);

// Waits so long; false when it was asked to end, or a program died. SIGHUP is passed on to the
// programs, which load policy and secrets again; that of a terminal that goes away ends it.
bool up_pause(void *up, int ms);
// Which program ended by itself; false when none did.
bool up_died(struct up *up, struct err *err);

// Ends everything, in order, within 2 seconds.
void up_stop(struct up *up);

int up_command(const struct call *call);
