// plant.h: the running parts of a receiver and how they are joined: loops, accept threads, policy.
//
// The stages don't know one another; what one needs of the next is a function made here.
#pragma once
#include "common/config/host.h"
#include "common/err.h"
#include "common/text.h"

struct plant;

// Builds everything on these listening sockets (borrowed) and lets it run. host is borrowed for the
// plant's life.
MUST_CHECK struct plant *plant_start(
        const struct host_config *host, const int *fds, size_t n_fds, struct err *err);

// Not ready from now on; answers what is there, at most grace_ms, and ends all threads.
void plant_drain(struct plant *plant, int64_t grace_ms);
void plant_free(struct plant *plant); // drained; NULL is fine

void plant_reload(struct plant *plant); // policy and secrets, before the next batch

// For the admin listener; any thread. Not ready: draining, no database, no policy. A source without
// a live secret is a check that failed, but the others work on.
bool plant_ready(void *plant, struct text *checks);
bool plant_live(void *plant);

// Sets the gauges that nobody else sets; once a second.
void plant_tick(struct plant *plant);
