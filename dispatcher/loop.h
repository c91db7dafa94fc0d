// loop.h: the dispatcher's one thread: transfers and the database in one poll.
//
// The database side does one piece of work at each of its desks (loop_db.h): records at one; at the
// main one leases before takeovers and what pauses held, then claims for what is free, the figures
// last; at the third claims alone.
#pragma once
#include "common/config/policy.h"
#include "common/pg/pg.h"
#include "common/text.h"

struct loop_options {
    const struct pg_options *database; // statements: dispatcher_sql.h
    const char *credentials;           // directory
    const char *attachments;           // folder, NULL = none
    const struct policy_known *known;  // may be NULL
    int transfers;
    int64_t poll_ms, lease_ms, grace_ms;
    void (*policy_active)(void *user, const struct policy *policy); // one was loaded; may be NULL
    void *user;
};

struct loop;
MUST_CHECK struct loop *loop_new(const struct loop_options *options, struct err *err);
void loop_free(struct loop *loop);

// Runs until loop_stop(), then: nothing new starts, what is on the wire may end within the grace
// time, the rest is cut off or given back, and all of it recorded. Returns the exit code: 0, or 78
// when the schema or the database's settings are refused at the first connection.
int loop_run(struct loop *loop);

// From other threads.
void loop_stop(struct loop *loop);
void loop_reload(struct loop *loop);                     // policy and credentials again
bool loop_ready(struct loop *loop, struct text *checks); // as admin.h wants it
bool loop_live(struct loop *loop);
