// claim.h: reads what a request says about itself: its signatures, timestamp and id. No secret is
// used here.
#pragma once
#include "receiver/verify/scheme.h"

struct claim {
    struct slice signatures[SCHEME_CANDIDATES_MAX]; // as text, prefix taken off
    size_t n_signatures;
    struct slice timestamp; // as text, as signed
    int64_t at_s;           // the same as a number
    struct slice id;
    struct text id_text; // owns id when it comes from the body
};
#define AUTO_CLAIM __attribute__((cleanup(claim_fini)))
void claim_fini(struct claim *claim); // zeroed is fine

// Only the id, where it is signed: for signing.
enum verify_reason claim_read_id(
        const struct scheme *row, const struct verify_request *request, struct claim *claim);

// VERIFY_OK, or why it can't be judged. The claim borrows from the request. Zeroed before.
enum verify_reason claim_read(
        const struct scheme *row, const struct verify_request *request, struct claim *claim);
