#include "dispatcher/token/seal.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>

#define NONCE 12
#define TAG 16
#define PURPOSE "pawl provider token 1"

struct sealing {
    unsigned char key[32];
    unsigned char bytes[SEAL_TOKEN_MAX];
};

static void free_ctx(EVP_CIPHER_CTX **ctx)
{
    EVP_CIPHER_CTX_free(*ctx);
}
#define AUTO_CTX __attribute__((cleanup(free_ctx)))

static void free_sealing(struct sealing **sealing)
{
    explicit_bzero(*sealing, sizeof **sealing);
    free(*sealing);
}
#define AUTO_SEALING __attribute__((cleanup(free_sealing)))

static bool derive(struct slice secret, struct key identity, unsigned char out[32])
{
    unsigned char said[sizeof PURPOSE + sizeof identity.bytes];
    unsigned len = 0;
    memcpy(said, PURPOSE, sizeof PURPOSE);
    memcpy(said + sizeof PURPOSE, identity.bytes, sizeof identity.bytes);
    return secret.len > 0 && secret.len <= INT32_MAX &&
           HMAC(EVP_sha256(), secret.ptr, (int)secret.len, said, sizeof said, out, &len) &&
           len == 32;
}

static bool encrypt(
        struct sealing *s, const unsigned char *nonce, struct slice token, unsigned char tag[TAG])
{
    int n = 0, rest = 0;
    AUTO_CTX EVP_CIPHER_CTX *ctx = EVP_CIPHER_CTX_new();
    return ctx && EVP_EncryptInit_ex(ctx, EVP_aes_256_gcm(), NULL, s->key, nonce) == 1 &&
           EVP_EncryptUpdate(ctx, s->bytes, &n, token.ptr, (int)token.len) == 1 &&
           EVP_EncryptFinal_ex(ctx, s->bytes + n, &rest) == 1 &&
           EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_GCM_GET_TAG, TAG, tag) == 1;
}

bool seal(struct slice secret, struct key identity, struct slice token, struct text *out,
        struct err *err)
{
    AUTO_SEALING struct sealing *s = xcalloc(1, sizeof *s);
    unsigned char nonce[NONCE], tag[TAG];
    if (token.len == 0 || token.len > sizeof s->bytes)
        return err_set(err, ERR_FATAL, "the provider's token is empty or too long");
    bool ok = derive(secret, identity, s->key) && RAND_bytes(nonce, sizeof nonce) == 1 &&
              encrypt(s, nonce, token, tag) && text_add(out, (struct slice){nonce, NONCE}) &&
              text_add(out, (struct slice){s->bytes, token.len}) &&
              text_add(out, (struct slice){tag, TAG});
    return ok || err_set(err, ERR_FATAL, "the provider's token can't be sealed");
}

static bool decrypt(struct sealing *s, struct slice sealed, size_t len)
{
    int n = 0, rest = 0;
    unsigned char tag[TAG];
    memcpy(tag, sealed.ptr + NONCE + len, TAG);
    AUTO_CTX EVP_CIPHER_CTX *ctx = EVP_CIPHER_CTX_new();
    return ctx && EVP_DecryptInit_ex(ctx, EVP_aes_256_gcm(), NULL, s->key, sealed.ptr) == 1 &&
           EVP_DecryptUpdate(ctx, s->bytes, &n, sealed.ptr + NONCE, (int)len) == 1 &&
           EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_GCM_SET_TAG, TAG, tag) == 1 &&
           EVP_DecryptFinal_ex(ctx, s->bytes + n, &rest) == 1;
}

bool unseal(struct slice secret, struct key identity, struct slice sealed, struct text *out)
{
    AUTO_SEALING struct sealing *s = xcalloc(1, sizeof *s);
    if (sealed.len <= NONCE + TAG || sealed.len - NONCE - TAG > sizeof s->bytes)
        return false;
    size_t len = sealed.len - NONCE - TAG;
    return derive(secret, identity, s->key) && decrypt(s, sealed, len) &&
           text_add(out, (struct slice){s->bytes, len});
}
