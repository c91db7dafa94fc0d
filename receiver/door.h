// door.h: what the stages ask of a source's scheme, in their own words: they don't know verify.
//
// The same for requests of now (plant.c) and for kept ones (`pawl inbox reverify`).
#pragma once
#include "receiver/accept/read.h"
#include "receiver/http/stages.h"

// For stages.verify and stages.greet.
struct verdict door_verify(const struct source *source, const struct received *received);
void door_greet(const struct source *source, const struct received *received,
        struct greeting *ret_greeting);

// For accept_options.pointers: where the scheme has id, type and scope.
struct read_pointers door_pointers(const struct source *source);
