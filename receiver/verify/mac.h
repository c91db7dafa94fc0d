// mac.h: keyed digests of several pieces, and the two ways a digest is written as text.
#pragma once
#include "common/text.h"
#include "receiver/verify/scheme.h"

size_t mac_size(enum scheme_algorithm algorithm); // bytes of its digest

// HMAC (RFC 2104) over the pieces one behind the other, without joining them and without
// allocating. False for an empty key: RFC 2104 would take it, and a source without a secret would
// then accept what anybody can sign.
MUST_CHECK bool mac_of(enum scheme_algorithm algorithm, struct slice key,
        const struct slice pieces[], size_t n, unsigned char out[SCHEME_DIGEST_MAX]);

// An ed25519 signature (RFC 8032) over the joined pieces. key: 32 bytes, public, or the private
// seed whose public half is meant.
enum { ED25519_KEY = 32, ED25519_SIGNATURE = 64 };
MUST_CHECK bool ed25519_verify(struct slice key, bool is_private, const struct slice pieces[],
        size_t n, const unsigned char signature[ED25519_SIGNATURE]);
MUST_CHECK bool ed25519_sign(struct slice seed, const struct slice pieces[], size_t n,
        unsigned char out[ED25519_SIGNATURE]);

// Decodes exactly `want` bytes. Strict: no white space, no missing or surplus padding, no
// stray bits in the last base64 digit (RFC 4648 §3.5), nothing behind it.
MUST_CHECK bool encoding_decode(
        enum scheme_encoding encoding, struct slice text, unsigned char *out, size_t want);
// Like it for any length up to room bytes; sets *ret_len.
MUST_CHECK bool encoding_decode_any(enum scheme_encoding encoding, struct slice text,
        unsigned char *out, size_t room, size_t *ret_len);
// False when out's ceiling is passed.
bool encoding_encode(enum scheme_encoding encoding, struct slice bytes, struct text *out);
