// near.h: "did you mean": the nearest of a few known words.
#pragma once
#include "common/base.h"

enum { NEAR_WORD_MAX = 63 }; // longer words have no neighbours

// Edits between two words, a swap of neighbours counting once (optimal string alignment); more than
// NEAR_WORD_MAX bytes = INT_MAX.
int near_distance(const char *a, const char *b);

// The running search: begin with a zeroed one and offer every candidate.
struct near {
    const char *best;
    int distance;
};
// Keeps candidate when it is at most 2 edits away (1 for words of up to three letters) and nearer
// than what is there, or as near with a longer common start.
void near_offer(struct near *near, const char *word, const char *candidate);
