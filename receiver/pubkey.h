// pubkey.h: public keys as people and providers write them (PEM, certificate, JWK, JWKS), and how a
// stage asks for one that a provider publishes.
#pragma once
#include "common/base.h"
#include "common/err.h"
#include <openssl/types.h>

enum {
    PUBKEY_RSA_BITS_MIN = 2048, // RFC 7518 §3.3
    PUBKEY_RSA_BITS_MAX = 8192,
    PUBKEY_SET_MAX = 32, // keys of one JWKS; more are passed over
    PUBKEY_KID_MAX = 128,
};

void pubkey_drop(EVP_PKEY **key); // NULL inside is fine
#define AUTO_PUBKEY __attribute__((cleanup(pubkey_drop)))

// An RSA key of a usable size, or one on P-256: what the schemes here verify with.
bool pubkey_usable(const EVP_PKEY *key);

// Reads `BEGIN CERTIFICATE` (the first one; only while it is valid at now_s) or `BEGIN PUBLIC KEY`.
// Yours; NULL when it is neither, or not usable.
MUST_CHECK EVP_PKEY *pubkey_of_pem(struct slice pem, int64_t now_s);
bool pubkey_is_pem(struct slice text); // a secret that holds a key and not a shared secret

// A JWKS (RFC 7517 §5): its usable signature keys with their kids.
struct pubkey_set {
    size_t n;
    struct pubkey_named {
        char *kid; // "" when it has none
        EVP_PKEY *key;
    } keys[PUBKEY_SET_MAX];
};
// Fills ret_set from a JWKS, or from one JWK. Keys of other kinds are passed over; with none left
// it is ERR_INPUT. A member that stands twice, a shared secret (`oct`) and a private key never
// count.
MUST_CHECK bool pubkey_set_read(struct slice json, struct pubkey_set *ret_set, struct err *err);
void pubkey_set_fini(struct pubkey_set *set); // zeroed is fine

// The key of this kid, borrowed; NULL when there is none.
EVP_PKEY *pubkey_set_find(const struct pubkey_set *set, struct slice kid);

// A key that the provider publishes. Whoever asks gets an answer at once and never waits.
enum published_kind { KEY_CERTIFICATE, KEY_JWKS };
enum key_answer {
    KEY_READY,
    KEY_PENDING,     // being fetched: ask again in a second
    KEY_UNAVAILABLE, // can't be had at present: the network's fault or ours
    KEY_REFUSED,     // a certificate that is not to be trusted
    KEY_UNKNOWN,     // the JWKS has no such kid
};
struct key_query {
    enum published_kind kind;
    const char *source;    // whose request it is, for limits and the log
    struct slice url, kid; // checked by the scheme's rule already; kid of a JWKS only
    const char *domain;    // of the certificate's names, e.g. ".amazonaws.com"
    int64_t now_s;
};
struct key_ring {
    // Sets *ret_key (the caller's) for KEY_READY only. Any thread.
    enum key_answer (*find)(void *user, const struct key_query *query, EVP_PKEY **ret_key);
    void *user;
};
