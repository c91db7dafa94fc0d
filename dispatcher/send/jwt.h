// jwt.h: signs the tokens that providers take in place of passwords (RFC 7515, RFC 7518 3.3, 3.4).
#pragma once
#include "common/err.h"
#include "common/text.h"

enum jws_algorithm {
    JWS_ES256, // P-256; the signature is r || s, 64 bytes, and not DER
    JWS_RS256,
};

// Appends BASE64URL(header).BASE64URL(claims).BASE64URL(signature). key_pem is a private key,
// PKCS #8 or the older forms, without a passphrase. ERR_FATAL: it is none, or of another kind.
// ES256 signatures differ from call to call.
MUST_CHECK bool jwt_sign(enum jws_algorithm algorithm, struct slice key_pem, const char *header,
        const char *claims, struct text *out, struct err *err);

// Turns an ECDSA signature from DER into r || s, each 32 bytes, in place; room is for 64 bytes at
// least. False: it is no DER, or no signature of P-256.
MUST_CHECK bool jwt_halves(unsigned char *signature, size_t *len);

// The public key of a P-256 key: 0x04 || x || y.
MUST_CHECK bool jwt_public_point(
        struct slice key_pem, unsigned char ret_point[65], struct err *err);
