// wire.h: starts what a claim granted, and takes in what has ended.
#pragma once
#include "dispatcher/lease.h"
#include "dispatcher/send/send.h"
#include "dispatcher/stock.h"
#include "dispatcher/token/token.h"

enum {
    WIRE_HOLD_MS = 5000,     // a delivery waits so long for a shared token that is being made
    WIRE_NO_TOKEN_MS = 5000, // then it is due again after this
    WIRE_LOOK_MS = 50,       // looks so often whether the token has come
    WIRE_FILES_MAX = 16 * 1024 * 1024, // bytes of files that are read before the loop turns again
    WIRE_STALL_MS = 500,  // what was claimed ahead is given back when no transfer ended for so long
    WIRE_STOCK_MS = 2000, // .. or when it waits for so long
};

struct wire {
    struct transport *transport;
    struct leases *leases;
    const struct policy *(*sender)(void *user); // providers of the moment; never NULL after a claim
    // NULL: the policy of now has it no more.
    const struct provider *(*provider)(void *user, const struct delivery *delivery);
    // How many of a channel may start now; those that fly or are held are in by_channel.
    int (*room)(void *user, enum channel_kind channel);
    // Its provider takes nothing any more, or it is paused: what waits for a transfer is given
    // back.
    bool (*barred)(void *user, const struct delivery *delivery);
    void (*ended)(void *user, struct delivery *delivery); // takes over a delivery with its result
    void *user;
    struct tokens *tokens;
    struct delivery
            *held; // by next: those that wait for a shared token or for files' turn, and how many
    int holding;
    size_t files; // bytes of files that were read in this turn
    int flying;
    int by_channel[CHANNEL_COUNT];   // flying, and those that are held
    int64_t ended_ms[CHANNEL_COUNT]; // its last transfer
    struct stock stock;              // claimed ahead
};

// Starts each of the list (linked by next) as soon as there is a transfer for it, or gives it back
// as never sent: when the process is stopping, its lease is lost, too little of it is left
// (lease_needed_ms), it waited for too long, or until it expired.
void wire_start(struct wire *wire, struct delivery *list, bool stopping);

// What waits is given back as never sent.
void wire_stop(struct wire *wire);

// Hands on what has ended, and starts what has its token or a transfer now.
void wire_collect(struct wire *wire);

// When it wants to collect although no transfer ends; INT64_MAX = it does not.
int64_t wire_next_ms(const struct wire *wire, int64_t now_ms);

// The whole list was never sent.
void wire_give_back(struct wire *wire, struct delivery *list);
