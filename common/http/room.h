// room.h: the connections of a loop that have nothing to do, so that the one that has had nothing
// the longest is found at once when another needs its place. Each step costs the same however many
// there are.
#pragma once
#include "common/base.h"

#include <h2o.h>

enum {
    ROOM_IDLE_MIN_MS = 200,  // how long one must have had nothing to do before it may have to go
    ROOM_BODY_MIN_MS = 1000, // and how long one may take for its body, after it was seen at it
};

enum guest_place { GUEST_BUSY, GUEST_IDLE, GUEST_SLOW };

// One connection; zeroed = busy.
struct guest {
    struct guest *prev, *next;
    enum guest_place place;
    int64_t since_ms; // at this place
    h2o_req_t *req;   // NULL = not known yet; HTTP/1.1's requests of one connection share it
};

struct room {
    struct guest *first[GUEST_SLOW + 1], *last[GUEST_SLOW + 1]; // by since_ms
};

// It has nothing to do from now on: it was accepted, or its last request is over.
void room_rest(struct room *room, struct guest *guest, int64_t now_ms);
// It has a request that is complete, or it is gone.
void room_leave(struct room *room, struct guest *guest);

// Who has to go: the one that has been idle longest, else the one longest at its body; NULL = none
// that may. learn() fills the req of every guest that has none; it is asked for once, and not again
// before a guest that came later is the oldest.
h2o_req_t *room_oldest(
        struct room *room, int64_t now_ms, void (*learn)(void *context), void *context);
