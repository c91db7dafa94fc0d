// receipt_read.h: reads an event as a receipt, by one table row a provider: pure.
#pragma once
#include "receiver/receipt.h"

// body is the event as JSON (a form as a flat object; of a batch its member), query the request
// target's part behind '?'. NULL: it says nothing of a message. Else yours: free().
struct receipt *receipt_read(const struct source *source, struct slice body, struct slice query);

// The provider whose receipts a source of this scheme brings, where the scheme alone says it.
const char *receipt_provider_of(const char *scheme); // NULL = the policy must
// The channel of a provider's messages; CHANNEL_NONE: there is no such provider.
enum channel_kind receipt_channel_of(const char *provider);
// The name of provider i; NULL past the last.
const char *receipt_provider_at(size_t i);
