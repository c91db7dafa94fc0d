// key.h: makes of a secret's file the key that signatures are proved with.
#pragma once
#include "receiver/verify/scheme.h"
#include <openssl/types.h>

enum { KEY_ROOM = 1024 }; // bytes of a secret that is stored encoded

// Only an encoded secret needs the room; pkey is owned.
struct sign_key {
    struct slice bytes;
    enum sign_key_kind {
        SIGN_KEY_SHARED,
        SIGN_KEY_PUBLIC,  // of ed25519: 32 bytes
        SIGN_KEY_PRIVATE, // of ed25519: its seed
        SIGN_KEY_OBJECT,  // pkey
    } kind;
    EVP_PKEY *pkey;
    bool used; // the room: something of a secret may stand in it
    unsigned char room[KEY_ROOM];
};
#define AUTO_SIGN_KEY __attribute__((cleanup(sign_key_fini)))
void sign_key_fini(struct sign_key *key); // wipes; zeroed is fine

// False when the secret is not of the form that the row asks for: it then proves nothing. key must
// be zeroed but for its room. Certificates must be valid at now_s.
MUST_CHECK bool sign_key_make(const struct scheme *row, enum scheme_algorithm algorithm,
        struct slice secret, int64_t now_s, struct sign_key *key);

// A signature by ECDSA (DER, on P-256) or RSA (PKCS #1 v1.5), both over the SHA-256 of the joined
// pieces.
MUST_CHECK bool pair_verify(
        EVP_PKEY *pkey, const struct slice pieces[], size_t n, struct slice signature);

// The key that parse makes of the text, which is public; this thread keeps the last ones. Yours;
// NULL when parse makes none.
EVP_PKEY *key_kept(struct slice text, EVP_PKEY *(*parse)(struct slice text));
