// txn.h: one batch of arrivals as one database transaction, in a few flights
// (docs/crash-ordering.md, A1..A6).
#pragma once
#include "common/pg/pg.h"
#include "receiver/accept/batch.h"

// What stays from one transaction to the next on a connection.
struct txn {
    struct pg *pg;
    int64_t gen; // key generation last seen; 0 = none yet
    bool overlap;
    int version;    // policy version this process works under
    bool run_again; // set by the caller: an earlier try of this batch may have been committed
    bool trial;     // set by the caller: nothing is committed, be it done
};

enum txn_end {
    TXN_DONE,     // committed, confirmed
    TXN_OUTDATED, // nothing happened: txn has the policy version and key generation of now; load
                  // the policy if it is another, read the batch again and run it
    TXN_AGAIN,    // deadlock or serialization failure: nothing happened, run it again as a whole
    TXN_BAD_DATA, // SQLSTATE class 22 or 23, or more than a flight carries: nothing happened, find
                  // the bad one, or run fewer
    TXN_LOST,     // the answer to COMMIT was lost: it may have happened; run it again on a new
                  // connection
    TXN_FAILED,   // anything else: nothing was acknowledged
};

// Runs the batch. On TXN_DONE every item's event has its outcome. err says why on all ends but
// TXN_DONE and TXN_OUTDATED. deadline_ms is on the monotonic clock.
enum txn_end txn_run(struct txn *txn, struct batch *batch, const struct once_keys *once,
        int64_t deadline_ms, struct err *err);
