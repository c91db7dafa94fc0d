// published.h: joins the schemes to the keys that their providers publish (receiver/fetch).
//
// Nothing here waits, since the loops ask: a key that is not there yet is KEY_PENDING, its request
// is answered 503 with a Retry-After of a second, and the provider's next try finds the key. To
// hold the request back instead would keep its connection and body for as long as the slowest name
// server, for anybody who can write a URL.
#pragma once
#include "common/config/host.h"
#include "common/config/policy.h"
#include "receiver/door.h"

struct published;
MUST_CHECK struct published *published_start(const struct host_config *host, struct err *err);
void published_stop(struct published *published); // NULL is fine

// What the door asks; lives as long as published.
const struct door_keys *published_keys(const struct published *published);

// Watches the key sets that this policy names; quick when it is the version of the last call.
void published_watch(struct published *published, const struct policy *policy);
