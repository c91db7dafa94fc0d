// sample.h: which refused requests are kept whole and which are only counted: bounded whatever
// comes, and no source takes the room of the others.
//
// Pure but for memory: a row a source and a row a kind that is counted. Not thread-safe.
#pragma once
#include "common/base.h"

struct sample_limits {
    int each_minute;            // kept whole of one source in one minute of the clock
    size_t source_bytes, bytes; // that may be kept at once, of one source and of all
    size_t source_a_day, a_day; // how fast that room comes back
    size_t kinds;               // (source, reason) counted apart; beyond, all go to one
};
extern const struct sample_limits sample_limits_default;

enum sample {
    SAMPLE_KEEP,
    SAMPLE_MANY, // enough of this source were kept this minute
    SAMPLE_FULL, // the room for kept bytes is used up
};
const char *sample_name(enum sample sample); // of the last two, for the metric

// How many were not kept, of one kind.
struct tally {
    int source;         // stored number; 0 = of several
    const char *reason; // static text
    int64_t n, first_us, last_us;
};

struct sampler;
struct sampler *sampler_new(const struct sample_limits *limits);
void sampler_free(struct sampler *sampler); // NULL is fine

// bytes: what keeping it would take. now_us: wall clock.
enum sample sampler_take(struct sampler *sampler, int source, size_t bytes, int64_t now_us);

// Counts n that were not kept, first and last at these times (wall clock).
void sampler_count(struct sampler *sampler, const struct tally *more);

// Takes out the next kind whose count began before began_before_us; false when there is none.
bool sampler_tally(struct sampler *sampler, int64_t began_before_us, struct tally *ret_tally);
