// loop_db.h: the loop's state, and its database side: two desks, and which work is next at each.
//
// Results are recorded at one desk while the other claims, so that no record waits for what a claim
// renders and two commits share the disk. To the database they are like two dispatchers: what both
// touch is locked in key order.
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

enum { DESK_CLAIM, DESK_RECORD, DESKS }; // DESK_CLAIM does all but records

struct loop {
    struct json_tree tree; // of the values that are being rendered
    struct loop_options options;
    struct desk desks[DESKS];
    int epoll_fd; // ready when a desk's flight can go on
    struct leases leases;
    struct policies *policies;
    struct wire wire;
    struct recorder *recorder;
    struct claimer *claimer;
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
    int64_t takeover_ms, resume_ms, gauges_ms, refresh_ms;
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

// The active version is newer than the sender, and loading it did not just fail.
bool loop_db_outdated(const struct loop *loop, int version);

// When it wants its next turn (clock_mono_ms) even if nothing happens.
int64_t loop_db_next_ms(const struct loop *loop);
