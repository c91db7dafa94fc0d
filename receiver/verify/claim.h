// claim.h: reads what a request says about itself: its signatures, timestamp and id. No secret is
// used here.
#pragma once
#include "receiver/verify/scheme.h"

struct claim {
    struct slice signatures[SCHEME_CANDIDATES_MAX]; // as text, prefix taken off
    bool ed25519[SCHEME_CANDIDATES_MAX];            // what kind each is
    size_t n_signatures;
    struct slice timestamp; // as text, as signed
    int64_t at_s;           // the same as a number
    struct slice id;
    struct text id_text;               // owns id when it comes from the body
    struct text urls[SCHEME_URLS_MAX]; // PART_URL, as the provider may have spelt it
    size_t n_urls;                     // at least 1, or there is no such part
    struct text form;                  // PART_FORM
    bool body_hash_wrong;              // the signed URL binds another body
};
#define AUTO_CLAIM __attribute__((cleanup(claim_fini)))
void claim_fini(struct claim *claim); // zeroed is fine

// Only the id, where it is signed: for signing.
enum verify_reason claim_read_id(
        const struct scheme *row, const struct verify_request *request, struct claim *claim);

// What is signed beside bytes of the request: PART_URL and PART_FORM (claim_made.c).
enum verify_reason claim_make_parts(const struct scheme *row, const struct source *source,
        const struct verify_request *request, struct claim *claim);

// A header that must be there once; empty is as good as absent.
enum verify_reason header_one(const struct verify_request *request, const char *name,
        enum verify_reason absent, struct slice *ret_value);

// VERIFY_OK, or why it can't be judged. The claim borrows from the request. Zeroed before.
enum verify_reason claim_read(const struct scheme *row, const struct source *source,
        const struct verify_request *request, struct claim *claim);
