// connector.h: connects to the database on a thread of its own, so that transfers go on meanwhile.
#pragma once
#include "common/pg/pg.h"

struct connector;

// options must outlive it. wake is called on the thread when an attempt has ended.
struct connector *connector_new(
        const struct pg_options *options, void (*wake)(void *user), void *user);
// Waits for an attempt that is under way (bounded by the connect timeout).
void connector_free(struct connector *connector);

enum connecting {
    CONNECTING,
    CONNECTED,      // *ret_pg is the caller's
    CONNECT_FAILED, // err says why; the next call starts the next attempt, when its wait is over
};
// Starts an attempt if none is under way; waits 100 ms up to 5 s between failures.
enum connecting connector_turn(struct connector *connector, struct pg **ret_pg, struct err *err);
