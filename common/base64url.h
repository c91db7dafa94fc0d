// base64url.h: base64url without padding (RFC 4648 §5, RFC 7515 §2), read strictly.
#pragma once
#include "common/base.h"

// Decodes into out (room bytes) and sets *ret_len. False: a character outside the alphabet,
// padding, white space, a length that no bytes have, stray bits in the last digit, or more than
// room.
MUST_CHECK bool base64url_decode(
        struct slice text, unsigned char *out, size_t room, size_t *ret_len);
