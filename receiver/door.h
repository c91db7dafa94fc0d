// door.h: what the stages ask of a source's scheme, in their own words: they don't know verify.
//
// The same for requests of now (plant.c) and for kept ones (`pawl inbox reverify`).
#pragma once
#include "receiver/accept/read.h"
#include "receiver/http/stages.h"
#include "receiver/pubkey.h"

// Where the keys come from that providers publish, and what else needs the network. Set once,
// before the first request and by the process's one plant; without it such keys can't be had.
struct door_keys {
    const struct key_ring *ring;
    // Has a URL called that confirms a subscription. False: too many at once.
    bool (*confirm)(void *user, const char *source, const char *url);
    void *user;
};
void door_use(const struct door_keys *keys); // borrowed; NULL = none any more

// For stages.verify and stages.greet.
struct verdict door_verify(const struct source *source, const struct received *received);
void door_greet(const struct source *source, const struct received *received,
        struct greeting *ret_greeting);

// For accept_options.pointers: where the scheme has id, type and scope.
struct read_pointers door_pointers(const struct source *source);
