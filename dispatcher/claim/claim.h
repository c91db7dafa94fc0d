// claim.h: takes due deliveries under a lease and marks them "on the wire", in one transaction.
//
// BEGIN; the active policy version, the pauses; take due rows with what belongs to them; then in C
// the gates, with a flight for further facts where a member needs them, and one for the stored
// content of further tries; then part by part: rendered, and content and states sent off while the
// next part is rendered; with the last one ends and the claim row; COMMIT. Only what that COMMIT
// confirmed is handed on to be sent. A COMMIT whose answer was lost is handed to `doubtful`: if the
// claim exists, its members are given back as never sent.
#pragma once
#include "dispatcher/claim/gates/pauses.h"
#include "dispatcher/claim/gates/zones.h"
#include "dispatcher/claim/lanes.h"
#include "dispatcher/lease.h"
#include "dispatcher/work.h"

enum {
    CLAIM_MAX = 500,                      // rows of one claim
    CLAIM_PART = 50,                      // of them are rendered before the loop turns again
    CLAIM_CONTENT_MAX = 16 * 1024 * 1024, // bytes that one claim may render, the files of its mails
                                          // included, or bring along rendered; the rest waits
    CLAIM_FILES_WAIT_MS = 30 * 1000,      // rows whose files can't be read now
    CLAIM_BROKEN_WAIT_MS = 30 * 1000,     // rows of a policy version that can't be loaded
    CLAIM_LOADS_MAX = 4,         // versions loaded before a claim goes on; fewer than are kept
    CLAIM_CROWDED_WAIT_MS = 100, // rows of those that were not
};

// Is a policy version in memory?
enum rules {
    RULES_READY,
    RULES_MISSING, // load it first: the claim rolls back and names it (claim_report)
    RULES_BROKEN,  // it can't be loaded now: its rows wait
};

struct claimer_options {
    struct leases *leases;
    struct lanes *lanes; // CHANNEL_COUNT; claimers of a process share them
    enum rules (*rules)(void *user, int version);
    // Is this the active version that sends? False: the claim rolls back (claim_report) so that
    // nothing leaves by a policy that was replaced before this claim.
    bool (*current)(void *user, int version);
    // The message of a delivery by the policy version it remembers; NULL when that is not in
    // memory. It must live until the claim ended.
    const struct message *(*message)(void *user, int policy, int type);
    const struct policy *(*sender)(void *user); // providers of the moment; NULL = none yet
    struct zones *zones;
    struct pauses *pauses; // it reads them anew
    // Fills delivery->content from its address, once, type, policy and data. False + err: the
    // delivery ends as dead with that reason; ERR_TEMP: it waits.
    bool (*render)(void *user, struct delivery *delivery, int64_t now_us, struct err *err);
    // Chooses the provider of a delivery that may go, by its last one; delivery->provider names it
    // from then on. False: *ret_wait_ms says when to look again.
    bool (*route)(void *user, struct delivery *delivery, int64_t *ret_wait_ms);
    // One that was routed does not go after all.
    void (*unroute)(void *user, struct delivery *delivery);
    // Take over lists of deliveries linked by next, whose batch is in leases.
    void (*granted)(void *user, struct delivery *list);
    void (*doubtful)(void *user, struct delivery *list);
    void *user;
};

struct claimer;
struct claimer *claimer_new(const struct claimer_options *options);
void claimer_free(struct claimer *claimer);

// Asks for at most n rows (cut to CLAIM_MAX) of one channel; then run claimer_work() once.
void claimer_ask(struct claimer *claimer, enum channel_kind channel, int n);
struct work_kind claimer_work(struct claimer *claimer);

// How the last claim stands.
struct claim_report {
    enum channel_kind channel;
    bool takes;       // its rows are not known yet
    int coming;       // those that are, and not handed on yet
    int took;         // rows
    bool full;        // there may be more
    int seen_version; // the active one, 0 = none
    bool outdated;    // it was newer than the sender
    int missing;      // the version that must be loaded before it can go on, 0 = none
};
struct claim_report claimer_report(const struct claimer *claimer);
