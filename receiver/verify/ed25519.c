#include "receiver/verify/mac.h"

#include <openssl/evp.h>

// The one-shot call wants the message in one piece.
static struct text join(const struct slice pieces[], size_t n)
{
    size_t len = 0;
    for (size_t i = 0; i < n; i++)
        len += pieces[i].len;
    struct text joined;
    text_init(&joined, len);
    for (size_t i = 0; i < n; i++)
        text_add(&joined, pieces[i]);
    return joined;
}

static EVP_PKEY *key_of(struct slice key, bool is_private)
{
    if (key.len != ED25519_KEY)
        return NULL;
    return is_private ? EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, NULL, key.ptr, key.len)
                      : EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, NULL, key.ptr, key.len);
}

bool ed25519_verify(struct slice key, bool is_private, const struct slice pieces[], size_t n,
        const unsigned char signature[ED25519_SIGNATURE])
{
    EVP_PKEY *pkey = key_of(key, is_private);
    EVP_MD_CTX *ctx = EVP_MD_CTX_new();
    AUTO_TEXT struct text message = join(pieces, n);
    bool ok = pkey && ctx && EVP_DigestVerifyInit(ctx, NULL, NULL, NULL, pkey) == 1 &&
              EVP_DigestVerify(ctx, signature, ED25519_SIGNATURE,
                      (const unsigned char *)text_cstr(&message), message.len) == 1;
    EVP_MD_CTX_free(ctx);
    EVP_PKEY_free(pkey);
    return ok;
}

bool ed25519_sign(struct slice seed, const struct slice pieces[], size_t n,
        unsigned char out[ED25519_SIGNATURE])
{
    EVP_PKEY *pkey = key_of(seed, true);
    EVP_MD_CTX *ctx = EVP_MD_CTX_new();
    AUTO_TEXT struct text message = join(pieces, n);
    size_t len = ED25519_SIGNATURE;
    bool ok = pkey && ctx && EVP_DigestSignInit(ctx, NULL, NULL, NULL, pkey) == 1 &&
              EVP_DigestSign(
                      ctx, out, &len, (const unsigned char *)text_cstr(&message), message.len) == 1;
    EVP_MD_CTX_free(ctx);
    EVP_PKEY_free(pkey);
    return ok && len == ED25519_SIGNATURE;
}
