// base64url.h: base64url without padding (RFC 4648 §5, RFC 7515 §2), read strictly.
//
// Written here, as the decoder of receiver/verify/encoding.c is: libsodium 1.0.18's takes every
// byte above 0x7f for a digit, so that one signature has many spellings.
#pragma once
#include "common/base.h"

// Decodes into out (room bytes) and sets *ret_len. False: a character outside the alphabet,
// padding, white space, a length that no bytes have, stray bits in the last digit, or more than
// room.
MUST_CHECK bool base64url_decode(
        struct slice text, unsigned char *out, size_t room, size_t *ret_len);
