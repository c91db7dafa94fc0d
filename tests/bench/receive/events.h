// events.h: the events that every contestant is given: orders that go through four steps, ids that
// no two runs share.
#pragma once
#include "common/base.h"
#include "common/text.h"

#define EVENT_STEPS 4
#define EVENT_STRIDE 1024 // so many events lie between two steps of one order
#define EVENT_BODY_MAX 1024

// One event of the stream. Step k + 1 of an order comes EVENT_STRIDE events after step k.
struct bench_event {
    char id[40], order[40], email[48];
    int step; // 1 .. EVENT_STEPS
};

// The n-th event of a run. Ids look random, as providers' do, and are the same for the same (run,
// n).
struct bench_event event_nth(uint64_t run, uint64_t n);

// Appends its JSON body, about 512 bytes; iso is the time it happened.
void event_body(const struct bench_event *event, const char *iso, struct text *out);

uint64_t event_mix(uint64_t x); // a number that looks random
