// requests.h: a run's HTTP requests, signed as Standard Webhooks demands, all made before the clock
// starts.
#pragma once
#include "tests/bench/receive/events.h"

struct request {
    const char *bytes; // head and body
    size_t len;
};

struct requests {
    struct request *items;
    size_t n;
    char *bytes;
};

// n distinct events of the run, for POST path; secret is whsec_ and base64. Ends the program when
// the secret is none.
struct requests *requests_new(const char *path, const char *secret, uint64_t run, size_t n);
void requests_free(struct requests *requests);
