// permits.h: permits of a rate that this dispatcher holds. They come a batch at a time from the
// database, where all dispatchers share one row (take.sql says how); what is held is used before
// more is asked for. Pure.
//
// So a rate is exceeded by a batch at most: a tenth of a second of it, one at least, for each
// dispatcher that kept one, and one more that was saved up in the row.
#pragma once
#include "common/base.h"

#define PERMITS_DEPTH_S 0.1 // of the rate may be saved up, and is a batch

// Zeroed: none.
struct permits {
    double rate; // a second; 0 = no limit
    int held;
    int64_t ask_ms; // monotonic: the database has none before
};

int permits_batch(double rate); // 1 at least

// The policy's rate of now; what is held beyond a batch of it is lost.
void permits_rate(struct permits *permits, double rate);
int permits_room(const struct permits *permits, int limit); // how many may start, limit at most
bool permits_wanted(const struct permits *permits, int64_t now_ms); // is it time to ask for more?
void permits_use(struct permits *permits);
// One that was used for what did not leave; what is beyond a batch is lost.
void permits_back(struct permits *permits);
// What the database granted; the next is free in next_ms.
void permits_granted(struct permits *permits, int n, int64_t next_ms, int64_t now_ms);
