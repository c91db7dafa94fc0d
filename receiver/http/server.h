// server.h: the public listener: one loop thread a core, all on the same sockets.
//
// server_new() makes the lanes, so that arrivals can be handed back to them; server_start() lets
// them run; server_drain() ends them; after the accept threads have ended too, server_free().
#pragma once
#include "receiver/http/stages.h"

#define SERVER_LANES_MAX 64

struct server;

struct server_options {
    const int *fds; // listening sockets; borrowed during server_new()
    size_t n_fds;
    int lanes;           // loop threads
    int connections;     // over all lanes; more wait in the kernel's backlog
    size_t body_max;     // bytes; above it 413 for every source
    int64_t deadline_ms; // from the whole request to 503
    struct stages stages;
};

MUST_CHECK struct server *server_new(const struct server_options *options, struct err *err);
MUST_CHECK bool server_start(struct server *server, struct err *err);
void server_free(struct server *server); // NULL is fine; drained, or never started

// Arrivals that lane's submit took, linked by .next; any thread.
void server_hand_back(struct server *server, int lane, struct arrival *batch);

// Milliseconds since the slowest lane's last turn; any thread.
int64_t server_idle_ms(const struct server *server);

// Takes no new connections, answers what is parked, closes idle connections; at most grace_ms, then
// what is left is answered 503. Returns when all lanes have ended.
void server_drain(struct server *server, int64_t grace_ms);
