// keyed.h: verifies with public keys: those that the source's secrets hold, else the one that the
// provider publishes.
#pragma once
#include "receiver/pubkey.h"
#include "receiver/verify/scheme.h"

enum pk_algorithm {
    PK_RSA_SHA1, // RSASSA-PKCS1-v1_5 (RFC 8017 §8.2)
    PK_RSA_SHA256,
    PK_ES256, // ECDSA on P-256, r and s one behind the other (RFC 7518 §3.4)
};

// What is signed and by what; borrowed.
struct keyed {
    enum pk_algorithm algorithm;
    const struct slice *pieces; // one behind the other
    size_t n_pieces;
    struct slice signature; // decoded
    struct key_query query; // which key, where it is not in a secret
};

// A secret that holds a key: PEM (certificate or public key), a JWK or a JWKS.
bool keyed_is_key(const struct secret *secret);

// The source's secrets hold keys, live at now or not: then none is fetched.
bool keyed_pinned(const struct source *source);

// VERIFY_OK, with the secret's index or -1 for a key that was fetched; else why not:
// VERIFY_NO_MATCH, VERIFY_NO_SECRET (no live one), VERIFY_KEY_PENDING, VERIFY_KEY_UNAVAILABLE,
// VERIFY_BAD_CERT, VERIFY_UNKNOWN_KEY.
enum verify_reason keyed_verify(const struct keyed *keyed, const struct source *source,
        const struct verify_request *request, int *ret_secret);
