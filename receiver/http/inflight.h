// inflight.h: which idempotency keys of app sources are being handled in this process right now.
//
// Shared by all loops. Bounded: keys beyond the limit are not tracked, and their copies are told
// 503 in place of 409.
#pragma once
#include "common/keys.h"

struct inflight;

struct inflight *inflight_new(size_t max_keys);
void inflight_free(struct inflight *inflight); // NULL is fine

enum inflight_entry { INFLIGHT_FIRST, INFLIGHT_COPY, INFLIGHT_UNTRACKED };

// Every enter that was not UNTRACKED is followed by one leave.
enum inflight_entry inflight_enter(struct inflight *inflight, struct key key);
void inflight_leave(struct inflight *inflight, struct key key);

// Another request with this key is under way besides the one that asks.
bool inflight_others(struct inflight *inflight, struct key key);
