// webpush_crypt.h: encrypts one message for one browser (RFC 8291, one record of RFC 8188).
#pragma once
#include "common/err.h"
#include "common/text.h"

struct webpush_keys {
    unsigned char public[65]; // the browser's, 0x04 || x || y
    unsigned char auth[16];
};

// What must be new for each message, and the same for each copy of it.
struct webpush_fresh {
    unsigned char salt[16];
    unsigned char secret[32]; // private key of our half, 1 .. order of P-256 - 1
};

// Appends the body: header and one record without padding, 103 bytes longer than plain. ERR_INPUT:
// the browser's key is no point of P-256.
MUST_CHECK bool webpush_encrypt(struct slice plain, const struct webpush_keys *keys,
        const struct webpush_fresh *fresh, struct text *out, struct err *err);
