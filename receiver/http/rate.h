// rate.h: how many requests a source may send to this process: one token bucket a source.
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
