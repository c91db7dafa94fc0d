// loop_policies.h: when the loop loads policy versions: once it saw a newer one, or rows of one
// that is not in memory. Loading waits for the database, so that nothing else is under way then.
#pragma once
#include "dispatcher/loop_db.h"

// The active version is newer than the sender, and loading it did not just fail.
bool loop_policies_outdated(const struct loop *loop, int version);

// One is to be loaded: no claim begins before.
bool loop_policies_wanted(const struct loop *loop, int64_t now_ms);

// When that wants a turn although nothing happens; INT64_MAX = it does not.
int64_t loop_policies_at_ms(const struct loop *loop);

// Loads what is wanted once no claim is under way, whose members stand on the versions in memory,
// and the main desk is free.
void loop_policies_turn(struct loop *loop);
