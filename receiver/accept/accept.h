// accept.h: takes verified arrivals in batches, one transaction each, on threads with a connection
// each.
//
// The HTTP loops hand arrivals in with accept_submit(), into one queue; while one batch is in
// flight the next gathers (bounded in rows and bytes), and only a good one is run beside it. Every
// arrival comes back exactly once through `done`, called on an accept thread, with .answer set.
#pragma once
#include "common/config/policy.h"
#include "receiver/accept/read.h"
#include "receiver/arrival.h"

struct accept;

struct accept_options {
    const char *conninfo;    // the login role pawl_receiver is added
    const char *credentials; // directory
    struct policy_known known;
    // Where the source's scheme has id, type and scope; main asks verify, which accept does not
    // know.
    struct read_pointers (*pointers)(const struct source *source);
    struct policy_box *policies; // shared with the loops
    int queue_rows;              // more waiting than this: refused at once (503)
    size_t queue_bytes;
    int64_t deadline_ms;
    void (*done)(void *user, struct arrival *batch); // a list linked by .next; ownership goes over
    void *user;
};

// The policy in use, shared by loops and accept threads; replaced whole when the active version
// changes.
struct policy_box;
struct policy_box *policy_box_new(void);
void policy_box_free(struct policy_box *box);
struct policy *policy_box_get(struct policy_box *box); // a reference, or NULL before the first load
void policy_box_put(struct policy_box *box, struct policy *policy); // takes the reference over

MUST_CHECK struct accept *accept_start(
        const struct accept_options *options, int threads, struct err *err);
// False when the queue is full: the arrival stays the caller's.
MUST_CHECK bool accept_submit(struct accept *accept, struct arrival *arrival);
int accept_connected(struct accept *accept); // threads whose database answered last time
void accept_reload(
        struct accept *accept); // SIGHUP: loads policy and secrets again before the next batch
// Finishes what is queued (at most grace_ms; the rest is answered 503), then joins the threads.
void accept_stop(struct accept *accept, int64_t grace_ms);
