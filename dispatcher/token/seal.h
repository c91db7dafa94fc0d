// seal.h: closes a token for the table and opens it again, with the provider's own key as the
// secret.
//
// Every dispatcher has that key anyway, and nobody who only has the database or a copy of it does.
// AES-256-GCM; the key is HMAC-SHA256 of the secret over a fixed text and the identity.
#pragma once
#include "common/err.h"
#include "common/keys.h"
#include "common/text.h"

// Appends nonce, ciphertext and tag. ERR_FATAL: it is too long, or there is no randomness.
MUST_CHECK bool seal(struct slice secret, struct key identity, struct slice token, struct text *out,
        struct err *err);
// Appends the token. False: it was not sealed with this secret for this identity, or was changed.
MUST_CHECK bool unseal(
        struct slice secret, struct key identity, struct slice sealed, struct text *out);

#define SEAL_TOKEN_MAX ((size_t)16 << 10)
