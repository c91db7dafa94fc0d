// jwt_token.h: takes a token apart, strictly; nothing of it is believed here.
#pragma once
#include "common/text.h"
#include "receiver/pubkey.h"
#include "receiver/verify/jwt.h"

enum {
    JWT_PART_MAX = SCHEME_HEADER_MAX, // bytes of a part, decoded
    JWT_SIGNATURE_MAX = PUBKEY_RSA_BITS_MAX / 8,
    JWT_HASH_MAX = 128, // bytes of the body's digest as text
};

struct jwt_token {
    struct slice signed_part; // header.payload, as it stands in the token; borrowed
    struct slice payload;     // its second part; borrowed
    struct text kid;          // "" = none
    unsigned char signature[JWT_SIGNATURE_MAX];
    size_t signature_len;
    // By jwt_token_read_claims:
    struct text body_hash;
    bool has_issued, has_expires, has_not_before;
    int64_t issued_s, expires_s, not_before_s;
};
void jwt_token_fini(struct jwt_token *token);
#define AUTO_TOKEN __attribute__((cleanup(jwt_token_fini)))

// Three parts of base64url; the header's `alg` is the row's, nothing in it is critical, no member
// stands twice. VERIFY_OK, VERIFY_BAD_HEADER or VERIFY_ALGORITHM.
enum verify_reason jwt_token_read(
        struct slice text, const struct scheme *row, struct jwt_token *token);

// Once the signature is right: times, and the digest of the body, which must be there.
// VERIFY_OK, VERIFY_BAD_HEADER, VERIFY_BAD_TIME or VERIFY_BODY_HASH.
enum verify_reason jwt_token_read_claims(const struct scheme *row, struct jwt_token *token);
