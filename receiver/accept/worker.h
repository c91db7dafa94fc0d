// worker.h: what the accept thread does with one batch: connection, policy, tries, answers. No
// queue, no thread.
#pragma once
#include "receiver/accept/accept.h"
#include "receiver/accept/txn.h"

struct worker {
    const struct accept_options *options;
    struct txn txn;
    struct policy *policy; // the reference this worker reads with; NULL before the first load
    struct once_keys *once;
    int64_t next_connect_ms, backoff_ms, next_look_ms;
    bool reload_due;     // asked for, but the database was away
    bool run_again;      // set by the caller: what it hands over may have been handed over before
    int refused_version; // of a policy that can't be loaded, told once
};

void worker_init(struct worker *worker, const struct accept_options *options);
void worker_fini(struct worker *worker);

// Connects and loads the policy if that is due; false when there is no working connection now.
bool worker_ready(struct worker *worker);

// When there is nothing to do: asks, once a second, whether another version was applied. Without it
// a new source would stay unknown until an event of an old one comes.
void worker_look(struct worker *worker);

// Loads the active policy and its secrets again, now or when the database is there.
void worker_reload(struct worker *worker);

// Sets .answer of every arrival of the list: after this it is stored, or it was answered as not
// stored.
void worker_process(struct worker *worker, struct arrival *arrivals);
