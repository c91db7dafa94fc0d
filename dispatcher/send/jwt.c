#include "dispatcher/send/jwt.h"

#include "dispatcher/send/compose.h"

#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/pem.h>

#define SIGNATURE_MAX 1024 // RSA of 8192 bits
#define HALF 32

static void free_key(EVP_PKEY **key)
{
    EVP_PKEY_free(*key);
}
#define AUTO_KEY __attribute__((cleanup(free_key)))
static void free_digest(EVP_MD_CTX **ctx)
{
    EVP_MD_CTX_free(*ctx);
}
#define AUTO_DIGEST __attribute__((cleanup(free_digest)))
static void free_ecdsa(ECDSA_SIG **sig)
{
    ECDSA_SIG_free(*sig);
}
#define AUTO_ECDSA __attribute__((cleanup(free_ecdsa)))

static EVP_PKEY *read_key(struct slice pem)
{
    char none[] = ""; // a passphrase, so that nobody is asked for one
    BIO *bio = pem.len <= INT32_MAX ? BIO_new_mem_buf(pem.ptr, (int)pem.len) : NULL;
    EVP_PKEY *key = bio ? PEM_read_bio_PrivateKey(bio, NULL, NULL, none) : NULL;
    BIO_free(bio);
    return key;
}

static bool is_p256(const EVP_PKEY *key)
{
    char group[32] = "";
    return EVP_PKEY_get_base_id(key) == EVP_PKEY_EC &&
           EVP_PKEY_get_utf8_string_param(
                   key, OSSL_PKEY_PARAM_GROUP_NAME, group, sizeof group, NULL) &&
           (strcmp(group, "prime256v1") == 0 || strcmp(group, "P-256") == 0);
}

bool jwt_halves(unsigned char *signature, size_t *len)
{
    const unsigned char *at = signature;
    AUTO_ECDSA ECDSA_SIG *sig = d2i_ECDSA_SIG(NULL, &at, (long)*len);
    if (!sig || BN_bn2binpad(ECDSA_SIG_get0_r(sig), signature, HALF) != HALF ||
            BN_bn2binpad(ECDSA_SIG_get0_s(sig), signature + HALF, HALF) != HALF)
        return false;
    *len = 2 * HALF;
    return true;
}

static bool sign(EVP_PKEY *key, struct slice bytes, unsigned char *signature, size_t *len)
{
    AUTO_DIGEST EVP_MD_CTX *ctx = EVP_MD_CTX_new();
    return ctx && EVP_DigestSignInit(ctx, NULL, EVP_sha256(), NULL, key) == 1 &&
           EVP_DigestSign(ctx, signature, len, bytes.ptr, bytes.len) == 1;
}

bool jwt_sign(enum jws_algorithm algorithm, struct slice key_pem, const char *header,
        const char *claims, struct text *out, struct err *err)
{
    bool ec = algorithm == JWS_ES256;
    AUTO_KEY EVP_PKEY *key = read_key(key_pem);
    if (!key || (ec ? !is_p256(key) : EVP_PKEY_get_base_id(key) != EVP_PKEY_RSA))
        return err_set(err, ERR_FATAL, "the provider's key is no %s private key in PEM",
                ec ? "P-256" : "RSA");
    AUTO_TEXT struct text signing = {0};
    text_init(&signing, 16384);
    unsigned char signature[SIGNATURE_MAX];
    size_t len = sizeof signature;
    bool ok = compose_base64url(&signing, slice_of(header)) && text_char(&signing, '.') &&
              compose_base64url(&signing, slice_of(claims)) &&
              sign(key, text_slice(&signing), signature, &len) &&
              (!ec || jwt_halves(signature, &len)) && text_add(out, text_slice(&signing)) &&
              text_char(out, '.') && compose_base64url(out, (struct slice){signature, len});
    return ok || err_set(err, ERR_FATAL, "can't sign a token with the provider's key");
}

bool jwt_public_point(struct slice key_pem, unsigned char ret_point[65], struct err *err)
{
    unsigned char point[65];
    size_t len = 0;
    AUTO_KEY EVP_PKEY *key = read_key(key_pem);
    if (!key || !is_p256(key) ||
            !EVP_PKEY_get_octet_string_param(
                    key, OSSL_PKEY_PARAM_PUB_KEY, point, sizeof point, &len) ||
            len != sizeof point || point[0] != 4)
        return err_set(err, ERR_FATAL, "the provider's key is no P-256 private key in PEM");
    memcpy(ret_point, point, sizeof point);
    return true;
}
