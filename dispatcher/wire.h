// wire.h: starts what a claim granted, and takes in what has ended.
#pragma once
#include "dispatcher/lease.h"
#include "dispatcher/send/send.h"

struct wire {
    struct transport *transport;
    struct leases *leases;
    const struct policy *(*sender)(void *user); // providers of the moment; never NULL after a claim
    void (*ended)(void *user, struct delivery *delivery); // takes over a delivery with its result
    void *user;
    int flying;
};

// Starts each of the list (linked by next), or gives it back as never sent: when the process is
// stopping, its lease is lost, or too little of it is left (lease_needed_ms).
void wire_start(struct wire *wire, struct delivery *list, bool stopping);

// Hands on what has ended.
void wire_collect(struct wire *wire);

// The whole list was never sent.
void wire_give_back(struct wire *wire, struct delivery *list);
