// receipts.h: the receipts of a batch: which deliveries they name, judged, and written.
#pragma once
#include "receiver/accept/results.h"

// After the keys are known: the deliveries that receipts of new events name, in key order.
void receipts_group(struct batch *batch);
// Adds the statement that locks them; only if there are some.
void receipts_lock_rows(struct pg *pg, const struct batch *batch);
void receipts_locked(struct work *work, int call);
// All receipts in the order they came; says what became of their events.
void receipts_judge(struct batch *batch);
// Adds the statement that lists those who unsubscribe, if there are some.
void receipts_leavers(struct pg *pg, const struct batch *batch);
// Adds the statements that write what was judged.
void receipts_rows(struct pg *pg, const struct batch *batch);
