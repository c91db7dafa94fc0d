// claim.h: reads what a request says about itself: its signatures, timestamp and id, and what of it
// is signed. No secret is used here.
#pragma once
#include "common/form.h"
#include "receiver/verify/scheme.h"

// The values of the body that a row names: of its parts, of the signature and of the time.
enum { VALUE_SIGNATURE = SCHEME_PARTS_MAX, VALUE_TIME, VALUES };

struct claim {
    struct slice doc; // what fields are read of: the body, or one member of it
    struct slice signatures[SCHEME_CANDIDATES_MAX]; // as text, prefix taken off
    bool ed25519[SCHEME_CANDIDATES_MAX];            // what kind each is
    size_t n_signatures;
    enum scheme_algorithm algorithm; // the row's, or what its settings header says
    struct slice timestamp;          // as text, as signed
    int64_t at_s;                    // the same as a number
    struct slice id;
    struct text id_text;                    // owns id when it comes from the body
    struct slice values[VALUES];            // of fields
    struct text texts[VALUES];              // owns them when they are JSON
    struct form fields;                     // owns them when they are a form
    struct text urls[SCHEME_VARIANTS_MAX];  // PART_URL, as the provider may have spelt it
    size_t n_variants;                      // of the signed bytes; 0 is as good as 1
    struct text form, path, signed_headers; // PART_FORM, PART_PATH, PART_SIGNED_HEADERS
    bool body_hash_wrong;                   // the signed URL binds another body
};
#define AUTO_CLAIM __attribute__((cleanup(claim_fini)))
void claim_fini(struct claim *claim); // zeroed is fine

// Only the id, where it is signed: for signing.
enum verify_reason claim_read_id(
        const struct scheme *row, const struct verify_request *request, struct claim *claim);

// The row's fields, out of claim->doc. One that stands twice is VERIFY_BAD_BODY: readers differ in
// which they take (claim_fields.c).
enum verify_reason claim_read_fields(const struct scheme *row, struct claim *claim);

// The time as text and number, within no bounds yet (claim_time.c).
enum verify_reason claim_read_time(
        const struct scheme *row, const struct verify_request *request, struct claim *claim);

// What is signed beside bytes of the request: URL, path, form, headers (claim_made.c).
enum verify_reason claim_make_parts(const struct scheme *row, const struct source *source,
        const struct verify_request *request, struct claim *claim);
// PART_SIGNED_HEADERS (claim_headers.c).
enum verify_reason claim_make_headers(
        const struct scheme *row, const struct verify_request *request, struct claim *claim);

// A header that must be there once; empty is as good as absent.
enum verify_reason header_one(const struct verify_request *request, const char *name,
        enum verify_reason absent, struct slice *ret_value);

// Cuts text at the first sep: *ret_head is what stands before it, text becomes what stands behind.
bool slice_cut(struct slice *text, const char *sep, struct slice *ret_head);

// VERIFY_OK, or why it can't be judged. The claim borrows from the request. Zeroed before, but for
// doc.
enum verify_reason claim_read(const struct scheme *row, const struct source *source,
        const struct verify_request *request, struct claim *claim);

// What is signed, in pieces; which variant, of those there are.
struct signed_bytes {
    struct slice pieces[SCHEME_PARTS_MAX + 1];
    size_t n;
};
struct signed_bytes claim_bytes(const struct scheme *row, const struct claim *claim,
        const struct verify_request *request, size_t variant);
