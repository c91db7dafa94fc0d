// record.h: writes how tries ended: in batches, one transaction each, behind the fence.
//
// BEGIN; lock the claims (the fence); record the results whose claim is still there; drop claims
// whose last member this was; COMMIT. A record that failed or was not confirmed stays queued and is
// run again: step number and state of each delivery make that harmless.
#pragma once
#include "dispatcher/lease.h"
#include "dispatcher/work.h"

enum { RECORD_BATCH_MAX = 512 };

struct recorder_options {
    struct leases *leases;
    const struct message *(*message)(void *user, int policy, int type); // NULL = not known any more
    void *user;
};

struct recorder;
struct recorder *recorder_new(const struct recorder_options *options);
void recorder_free(struct recorder *recorder); // with what is queued; its leases run out

// Takes over a delivery whose result is filled in; its batch must be in leases. Never fails.
void recorder_push(struct recorder *recorder, struct delivery *delivery);
size_t recorder_pending(const struct recorder *recorder);

struct work_kind recorder_work(struct recorder *recorder);
