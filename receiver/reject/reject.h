// reject.h: the quarantine: refused requests are kept for a week, so that a wrongly refused one can
// be looked at and admitted later (docs/quarantine.md).
//
// A thread and a connection of its own write them, once a second at most: what is accepted never
// waits for it. Memory, rows and bytes are bounded (sample.h); what is not kept is counted. What
// was refused in the last second or two is lost with the process, and what does not fit while the
// database is away is only counted.
#pragma once
#include "common/err.h"
#include "receiver/reject/sample.h"

#define REJECT_BODY_MAX ((size_t)64 << 10) // bytes kept of a body; of a longer one also its digest
#define REJECT_OVERHEAD ((size_t)1 << 10)  // what a row takes beside its body, about

struct reject;

// conninfo is borrowed; the login role pawl_receiver is added. It connects when there is something
// to write.
MUST_CHECK struct reject *reject_start(const char *conninfo, struct err *err);

// Borrowed texts; labels and reasons come from the policy and from enums.
struct reject_request {
    int source;         // stored number
    const char *label;  // the source's name
    const char *reason; // static text
    int64_t received_us;
    struct slice method, target, body;
    struct slice headers; // lines.h
    const char *peer;     // "" = not known
};

// Any thread; quick. True: the caller makes the header lines and hands the request to
// reject_keep(). False: it was counted, that is all.
bool reject_wants(struct reject *reject, const struct reject_request *request);
void reject_keep(struct reject *reject, const struct reject_request *request);

// Writes what there is, at most about so long, and ends the thread.
void reject_stop(struct reject *reject, int64_t grace_ms); // NULL is fine
