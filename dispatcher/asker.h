// asker.h: puts a question about a delivery on the wire, and reads the answer.
#pragma once
#include "dispatcher/lookup/lookup.h"
#include "dispatcher/send/send.h"

// False: this provider can't be asked, or there is no room for the question.
bool asker_ask(struct transport *transport, const struct provider *provider,
        enum channel_kind channel, const char *key_hex, int64_t created_us, struct look *look);
