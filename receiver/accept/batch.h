// batch.h: the events of a batch of arrivals as one transaction needs them: sorted by key, grouped
// by order, and what was made of them.
#pragma once
#include "receiver/accept/run.h"
#include "receiver/accept/settle.h"

// One copy of one event.
struct item {
    struct event *event;
    struct arrival *arrival;
    const struct source *source;
    const char *secret; // name of the secret that matched, or NULL
    int bucket;         // of the event's key
    size_t nth;         // place in the queue
    size_t order;       // index into orders, SIZE_MAX = none
    bool leads; // it stands for its key in this batch; other copies of the key are repeats already
    bool again; // its own arrival has this key in an earlier member
    bool carries; // of its arrival's kept events it is the one whose row has the body
    bool won;     // its key was new
    bool known;   // this copy was recorded as a repeat before: its transaction is run again
    bool told;    // its sender is told what became of it, be it a repeat: an app source's event
    // Of an event whose id is outside what is signed:
    int signed_bucket;           // of the signed bytes
    bool signed_leads;           // of those that spend them it stands for these bytes in this batch
    bool replayed;               // these bytes came under another id before: it means nothing
    enum settle_outcome settled; // of a receipt; 0 = it is none
};

// One notification that a judgement owes.
struct note {
    const struct message *message;
    struct key id;
    int bucket;
    char *once, *data, *contact; // owned; data and contact are JSON, frozen at its judgement
    char *collapse;              // owned, NULL = none
    size_t judgement;            // index
    bool made;                   // its row was new: deliveries follow
};

// One receipt and what it did.
struct told {
    const struct item *item;
    struct settle *settle;
    enum settle_outcome outcome;
    int from, to; // states of the delivery
};

struct batch {
    struct policy *policy; // borrowed
    struct item *items;    // sorted by (bucket, event id, source, scope, asks, place in the queue)
    size_t n;
    size_t *queue;            // item indexes in queue order
    struct order_run *orders; // sorted by (bucket, order id)
    size_t n_orders;
    struct judgements judgements;
    struct note *notes; // sorted by (bucket, id)
    size_t n_notes;
    struct settle *settles; // deliveries that receipts name, in key order
    size_t n_settles;
    struct told *told; // in queue order
    size_t n_told;
    struct delivery_place *leavers; // where those stand who unsubscribe, in key order
    size_t n_leavers;
};

// Collects the events of the arrivals (already read with that policy) that are to be stored.
void batch_init(struct batch *batch, struct policy *policy, struct arrival *arrivals);
void batch_fini(struct batch *batch);

// After the keys are known: sorts those that spend their signed bytes, which are a key of their
// own, by it into at (room for all items), and says which stand for theirs. Returns how many stand
// there.
size_t batch_sort_signed(struct batch *batch, size_t *at);

// After the keys are known: makes orders of those that won (or were won by this very arrival
// before) and name one.
void batch_group_orders(struct batch *batch);

// After all outcomes are known: whether a row of bodies is due for this copy.
bool batch_keeps(const struct item *item);

// After all outcomes are known: of each arrival's events that are kept, the first in its order
// carries the body, which is stored once.
void batch_name_carriers(struct batch *batch);

// After the orders are locked and filled: judges all, then makes the notes.
struct once_keys;
MUST_CHECK bool batch_judge(struct batch *batch, const struct once_keys *once, struct err *err);

// Index of the order, SIZE_MAX when the batch has none of that name.
size_t batch_find_order(const struct batch *batch, int bucket, struct slice order_id);

// The once keys of a policy, parsed. The policy must outlive them.
MUST_CHECK struct once_keys *once_keys_new(const struct policy *policy, struct err *err);
void once_keys_free(struct once_keys *once); // NULL is fine
