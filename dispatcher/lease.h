// lease.h: the batches this process holds: one row of `claims` each, with what this process itself
// knows of its lease.
//
// A lease is granted by the database's clock. This process measures by its own monotonic clock from
// *before* the statement that granted or renewed it was sent, so its own idea is always the shorter
// one.
#pragma once
#include "dispatcher/delivery.h"

struct batch {
    struct key id;      // claim_id: the fence
    int64_t granted_ms; // monotonic, from before the claim or its last renewal
    int left;           // members without a record; the claim row goes with the last one
    bool lost;          // taken over: nothing more of it starts, its records are refused
    bool uncertain;     // a COMMIT that held it was not confirmed: "no row" is no takeover then
    bool unproven;      // its claim's COMMIT was not confirmed, nor its row seen since
    bool releasing;     // its last record is under way: "no row" is our own doing then
    bool asked;         // the last renewal named it: "no row" says nothing of a batch added since
    struct batch *next;
};

struct leases {
    struct batch *first;
    int64_t lease_ms;
    struct key worker;       // this process incarnation
    int64_t clock_offset_us; // database clock minus our monotonic one, as last seen
};

void leases_init(struct leases *leases, int64_t lease_ms);
void leases_fini(struct leases *leases);

// Adds a batch that was claimed; it lives until its last member has a record or was dropped.
struct batch *leases_add(struct leases *leases, struct key id, int members, int64_t granted_ms);
struct batch *leases_find(const struct leases *leases, struct key id); // NULL = none

// One member less; the batch is freed with its last one (returns true then).
bool leases_member_done(struct leases *leases, struct batch *batch);

// The database's clock in microseconds: each claim tells it, in between our own clock carries it
// on. It showed database_us at some moment since asked_us (clock_mono_us()); that may be long ago,
// where this process stood still meanwhile, so what is known stays where both fit.
void leases_clock_seen(struct leases *leases, int64_t database_us, int64_t asked_us);
int64_t leases_now_us(const struct leases *leases);

// What is left of the lease by our own clock, in ms; <= 0 = may be over.
int64_t leases_left_ms(const struct leases *leases, const struct batch *batch, int64_t now_ms);

// When the next renewal is due (a third of a lease after the grant); INT64_MAX = no batch.
int64_t leases_renew_at(const struct leases *leases);

// A try may start only with this much left. A transfer that fits into the lease needs its whole
// timeout, so that it ends inside it even if no renewal succeeds. A longer one lives on renewals;
// for it a third must be left: that is the time a renewal has, and less says that one was missed.
int64_t lease_needed_ms(int64_t lease_ms, int64_t timeout_ms);
