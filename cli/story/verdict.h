// verdict.h: a story in one line.
#pragma once
#include "common/text.h"

struct story_count {
    int copies; // of webhooks, first ones and repeats
    int caught; // of them, repeats
    int moves;  // applied
    int parked, waiting;
    int messages; // deliveries
    int mails;    // of them, e-mail
    int accepted; // deliveries that a provider took
    int due;      // not ended yet
    int unknown, possible_duplicates;
    int failed; // refused, expired, dead
    int other;  // withheld, superseded, cancelled
};

// "5 webhook copies -> 1 move -> 1 mail, accepted once. Nothing outstanding."
void verdict_text(const struct story_count *count, struct text *out);
