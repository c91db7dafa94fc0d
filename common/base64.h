// base64.h: base64 and base64url without padding (RFC 4648 §4 and §5, RFC 7515 §2), read strictly.
//
// Written here, since libsodium 1.0.18's decoder takes every byte above 0x7f for a digit, so that
// one signature has many spellings.
#pragma once
#include "common/base.h"

// Decode into out (room bytes) and set *ret_len. False: a character outside the alphabet, padding,
// white space, a length that no bytes have, stray bits in the last digit, or more than room.
MUST_CHECK bool base64_decode(struct slice text, unsigned char *out, size_t room, size_t *ret_len);
MUST_CHECK bool base64url_decode(
        struct slice text, unsigned char *out, size_t room, size_t *ret_len);
