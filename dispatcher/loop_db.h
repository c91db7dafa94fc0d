// loop_db.h: the loop's state, and its database side: its desks, and which work is next at each.
//
// Results are recorded at one desk while others claim, so that no record waits for what a claim
// renders and commits share the disk. Once a claim has taken its rows the next may take more at the
// second desk, while those are rendered and marked. To the database they are like several
// dispatchers: what they touch is locked in key order.
#pragma once
#include "dispatcher/bearer.h"
#include "dispatcher/claim/claim.h"
#include "dispatcher/claim/gates/resume.h"
#include "dispatcher/claim/takeover.h"
#include "dispatcher/desk.h"
#include "dispatcher/gauges.h"
#include "dispatcher/health.h"
#include "dispatcher/lookup/lookup.h"
#include "dispatcher/loop.h"
#include "dispatcher/policies.h"
#include "dispatcher/record/record.h"
#include "dispatcher/route/route.h"
#include "dispatcher/turns.h"
#include "dispatcher/wire.h"

#include <stdatomic.h>

enum desk_kind {
    DESK_MAIN, // all but records
    DESK_NEXT, // claims, while the main one works
    DESK_RECORD,
    DESKS,
    CLAIMERS = DESK_RECORD, // one at each desk before
};

struct loop {
    struct json_tree tree; // of the values that are being rendered
    struct loop_options options;
    struct desk desks[DESKS];
    int epoll_fd; // ready when a desk's flight can go on
    struct leases leases;
    struct policies *policies;
    struct wire wire;
    struct recorder *recorder;
    struct claimer *claimers[CLAIMERS];
    struct lanes lanes[CHANNEL_COUNT]; // made with each connection that claims
    int coming[CHANNEL_COUNT];         // rows that claims under way have taken
    bool has_more;                     // to do at once, whatever the wait
    int missing;                       // the policy version that claims wait for, 0 = none
    struct takeover *takeover;
    struct lookups *lookups;
    struct resumer *resumer;
    struct zones *zones;
    struct pauses pauses;
    struct renewal *renewal;
    struct gauges *gauges;
    struct bearer_maker bearers;
    struct health *health;
    struct route *route;

    struct turns turns; // whose claim is next

    bool was_connected; // once: from then on nothing ends the process but a signal
    int64_t takeover_ms, resume_ms, refresh_ms;
    int64_t record_ms; // the last record began

    int64_t files_told_ms; // when it may be told again that files can't be read
    bool stopping, aborted;
    int64_t grace_ends_ms;
    int exit_code;

    // shared with other threads
    atomic_bool stop_asked, reload_asked, connected, has_sender;
    atomic_llong turned_ms;
};

// Goes on with the work that is open, or begins the next; connects where there is no connection.
void loop_db_turn(struct loop *loop);

// True while a flight is in the air.
bool loop_db_working(const struct loop *loop);

// Does this desk claim just now?
bool loop_db_claims(const struct loop *loop, size_t desk);

// When it wants its next turn (clock_mono_ms) even if nothing happens.
int64_t loop_db_next_ms(const struct loop *loop);
