// kept.h: one row of the quarantine on its way to the database.
#pragma once
#include "common/keys.h"
#include "receiver/reject/reject.h"

// One block with all its bytes behind it.
struct kept {
    struct kept *next;
    struct key id;
    int source;
    char label[64];     // the source's name, for metrics
    const char *reason; // static text
    int64_t left_out;   // 0 = a request; else all below is empty
    int64_t received_us, last_us;
    size_t body_bytes;
    bool cut;
    unsigned char body_sha256[32]; // when cut
    struct slice method, target, headers, body;
    char peer[64];
};

struct kept *kept_request(const struct reject_request *request); // yours: free()
struct kept *kept_tally(const struct tally *tally);
size_t kept_weight(const struct kept *kept); // bytes of memory
