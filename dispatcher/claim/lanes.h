// lanes.h: in which order a claim asks the lanes, and from which moment on (the low-water mark).
//
// The mark is liveness only, never correctness: behind it lie the dead index entries of rows that
// were claimed, and a scan from there costs as much as the backlog that was. A row may become
// visible late: its transaction was long, or a claimer was frozen with it and the server ended that
// (5 s idle, after each flight). So scans start a margin before the mark, at times a long one, and
// now and then from the beginning. What that finds is the mark anew: before the database's clock
// was set back there was a higher one, which would hide all that becomes due for so long.
#pragma once
#include "common/config/policy.h"

enum {
    LANES_MARGIN_MS = 200,       // before the mark, always
    LANES_DEEP_MARGIN_MS = 5000, // each LANES_DEEP_EVERY_MS
    LANES_DEEP_EVERY_MS = 500,
    LANES_LATE_MARGIN_MS = 30000, // longer than a frozen claimer can hold a row
    LANES_LATE_EVERY_MS = 5000,
    LANES_WHOLE_EVERY_MS = 120000, // from the beginning
    LANES_DEPTHS = 4,
};

struct lanes {
    enum channel_kind channel;
    int64_t mark_us[PRIORITY_COUNT]; // highest due_at claimed, 0 = none yet
    bool whole[PRIORITY_COUNT];      // the last plan was, and took nothing of it so far
    int64_t at_ms[LANES_DEPTHS];     // when the next scan of each depth is due
    unsigned turn;
};

// What one claim asks for.
struct lanes_plan {
    int lane[PRIORITY_COUNT];
    int64_t from_us[PRIORITY_COUNT];
};

// Also to begin anew once claimed rows may have come back: the next plan is from the beginning.
// What a claim under way takes by a plan of before raises no mark then, or it would hide them.
void lanes_init(struct lanes *lanes, enum channel_kind channel);

// High comes first; but each 4th plan starts with normal and each 16th with low, so that a lane
// that always has work starves no other.
void lanes_next(struct lanes *lanes, int64_t now_ms, struct lanes_plan *ret_plan);
void lanes_claimed(struct lanes *lanes, int lane, int64_t due_us);
