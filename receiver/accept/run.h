// run.h: one order while a batch is judged: its running state, the events that wait for it, what
// must be written.
#pragma once
#include "receiver/accept/judge.h"

// An order with more waiting events than this takes no further ones: they end as conflict.
#define WAITING_MAX 256

// An event as judging needs it. Texts are borrowed.
struct candidate {
    int source; // stored number
    int to;     // index into flow.states, STATE_FOREIGN when the state is not in it
    int to_id;  // stored number
    bool has_sequence;
    int64_t sequence;
    const char *id, *scope, *type, *contact, *data;
};

struct wait {
    struct candidate event;
    enum move_outcome reason; // MOVE_EARLY or MOVE_UNKNOWN_ORDER
    bool stored;              // there is a row for it
    bool judged;              // it needs to wait no longer
    char *owned;              // block its texts live in, or NULL
};

struct last_sequence {
    int source;
    int64_t last;
};

struct order_run {
    int bucket;
    const char *id; // borrowed
    int state_id;   // stored number, 0 = placeholder
    int version0, version;
    int *done; // stored numbers of states
    size_t n_done;
    struct last_sequence *sequences;
    size_t n_sequences;
    struct wait *waits;
    size_t n_waits, open_waits;
    int stored_waiting;   // count the row had
    char *contact, *data; // JSON objects, owned
    bool changed;         // its row must be written
    bool too_large;       // contact or data of the event judged last were not taken over
};

// One judgement, in the order they were made. Texts are borrowed from events and waits.
struct judgement {
    size_t order; // index of the order_run, SIZE_MAX without an order
    struct candidate event;
    enum move_outcome outcome;
    int from_id, version;
};

struct judgements {
    struct judgement *rows;
    size_t n, room;
};
struct judgement *judgements_add(struct judgements *all); // zeroed row

// Adds a waiting event that has a row; its texts are copied.
void run_add_stored_wait(struct order_run *run, const struct candidate *event);

// Judges one new event and after an applied move the waiting ones again, until nothing changes.
// Every judgement is appended to all; the outcome is the new event's own.
enum move_outcome run_judge(struct order_run *run, size_t index, const struct flow *flow,
        const struct candidate *event, struct judgements *all);

void run_fini(struct order_run *run);
