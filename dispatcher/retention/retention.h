// retention.h: the dispatcher's second connection, as pawl_maint, on a thread of its own: every ten
// seconds one pass (sweep.h) by what the active policy says.
#pragma once
#include "dispatcher/retention/sweep.h"

struct retention;

// conninfo (borrowed) without a role. Starts the thread; it connects, and connects again, by
// itself.
MUST_CHECK struct retention *retention_new(const char *conninfo, struct err *err);
// Ends it without waiting for a statement that is under way. NULL is fine.
void retention_free(struct retention *retention);

// From any thread: what the active policy says now.
void retention_keep(struct retention *retention, const struct keep *keep);
