// rate.h: how many requests a source may send to this process: one token bucket a source, and so
// for links to unsubscribe.
//
// A bucket holds what a second brings, at least one, and starts full. Refused requests take
// nothing. Buckets go by the source's name, so that they outlive a policy; a changed rate holds at
// once.
#pragma once
#include "common/config/policy.h"

struct rates;
struct rates *rates_new(void);
void rates_free(struct rates *rates); // NULL is fine

// Any thread. True when there is a token, or the source has no rate. now_us is monotonic.
bool rates_take(struct rates *rates, const struct source *source, int64_t now_us);

enum {
    RATE_LINK_BURST = 30,   // of one link; then
    RATE_LINK_A_SECOND = 1, // which is what a person and two scanners may do
    RATE_LINKS_A_SECOND = 500,
};

// Of a click on a link that we signed: so many of one link, so that whoever has one keeps nobody
// else from leaving, and so many of all. Links share a fixed number of buckets.
bool rates_take_link(struct rates *rates, struct slice token, int64_t now_us);
