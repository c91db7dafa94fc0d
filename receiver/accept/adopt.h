// adopt.h: which policy a worker reads with: the one of the database, shared by all threads.
#pragma once
#include "receiver/accept/worker.h"

void adopt_none(struct worker *worker);

// The version that worker->txn.version names (0 = the active one): what another thread has loaded
// already, else from the database and then shared. fresh = from the database in any case, with its
// secrets.
MUST_CHECK bool adopt_active(struct worker *worker, bool fresh, struct err *err);

// What another thread has loaded is newer or as new: a source that only it knows is served by all.
void adopt_shared(struct worker *worker);
