#include "receiver/verify/keyed.h"

#include <openssl/bn.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/x509.h>

enum { P256_BYTES = 32, P256_DER_MAX = 72 };

bool keyed_is_key(const struct secret *secret)
{
    return pubkey_is_pem(secret->value) || slice_starts(secret->value, SLICE("{"));
}

bool keyed_pinned(const struct source *source)
{
    for (size_t i = 0; i < source->n_secrets; i++)
        if (keyed_is_key(&source->secrets[i]))
            return true;
    return false;
}

// OpenSSL wants SEQUENCE { INTEGER r, INTEGER s }.
static bool to_der(struct slice raw, unsigned char der[P256_DER_MAX], size_t *ret_len)
{
    ECDSA_SIG *pair = ECDSA_SIG_new();
    BIGNUM *r = BN_bin2bn(raw.ptr, P256_BYTES, NULL);
    BIGNUM *s = BN_bin2bn(raw.ptr + P256_BYTES, P256_BYTES, NULL);
    bool ok = false;
    if (pair && r && s && ECDSA_SIG_set0(pair, r, s) == 1) {
        r = s = NULL; // are pair's now
        unsigned char *at = der;
        int len = i2d_ECDSA_SIG(pair, NULL);
        ok = len > 0 && len <= P256_DER_MAX && i2d_ECDSA_SIG(pair, &at) == len;
        *ret_len = ok ? (size_t)len : 0;
    }
    BN_free(r);
    BN_free(s);
    ECDSA_SIG_free(pair);
    return ok;
}

static bool check(const struct keyed *keyed, EVP_PKEY *key, struct slice signature)
{
    const EVP_MD *md = keyed->algorithm == PK_RSA_SHA1 ? EVP_sha1() : EVP_sha256();
    EVP_MD_CTX *ctx = EVP_MD_CTX_new();
    bool ok = ctx && EVP_DigestVerifyInit(ctx, NULL, md, NULL, key) == 1;
    for (size_t i = 0; ok && i < keyed->n_pieces; i++)
        ok = EVP_DigestVerifyUpdate(ctx, keyed->pieces[i].ptr, keyed->pieces[i].len) == 1;
    ok = ok && EVP_DigestVerifyFinal(ctx, signature.ptr, signature.len) == 1;
    EVP_MD_CTX_free(ctx);
    ERR_clear_error();
    return ok;
}

// The kind of key must be the algorithm's own: it is never taken from what the request says.
static bool signed_by(const struct keyed *keyed, EVP_PKEY *key)
{
    if (keyed->algorithm != PK_ES256)
        return EVP_PKEY_is_a(key, "RSA") && check(keyed, key, keyed->signature);
    unsigned char der[P256_DER_MAX];
    struct slice made = {der, 0};
    return EVP_PKEY_is_a(key, "EC") && keyed->signature.len == 2 * (size_t)P256_BYTES &&
           to_der(keyed->signature, der, &made.len) && check(keyed, key, made);
}

// A key without a name may be any; one with another name than the request's is not asked.
static bool signed_by_set(const struct keyed *keyed, struct slice json)
{
    struct pubkey_set set = {.n = 0};
    bool valid = false;
    if (!pubkey_set_read(json, &set, NULL))
        return false;
    for (size_t i = 0; i < set.n; i++) {
        struct slice kid = slice_of(set.keys[i].kid);
        if (kid.len == 0 || keyed->query.kid.len == 0 || slice_eq(kid, keyed->query.kid))
            valid |= signed_by(keyed, set.keys[i].key);
    }
    pubkey_set_fini(&set);
    return valid;
}

static bool signed_by_secret(const struct keyed *keyed, struct slice text, int64_t now_s)
{
    if (!pubkey_is_pem(text))
        return signed_by_set(keyed, text);
    AUTO_PUBKEY EVP_PKEY *key = pubkey_of_pem(text, now_s);
    return key && signed_by(keyed, key);
}

static enum verify_reason by_secrets(const struct keyed *keyed, const struct source *source,
        const struct verify_request *request, int *ret_secret)
{
    bool any = false;
    for (size_t i = 0; i < source->n_secrets; i++) {
        const struct secret *held = &source->secrets[i];
        if (!keyed_is_key(held) || !secret_is_live(held, request->now_s))
            continue;
        any = true;
        if (signed_by_secret(keyed, held->value, request->now_s)) {
            *ret_secret = (int)i;
            return VERIFY_OK;
        }
    }
    return any ? VERIFY_NO_MATCH : VERIFY_NO_SECRET;
}

static enum verify_reason by_published(
        const struct keyed *keyed, const struct verify_request *request, int *ret_secret)
{
    static const enum verify_reason reasons[] = {[KEY_PENDING] = VERIFY_KEY_PENDING,
            [KEY_UNAVAILABLE] = VERIFY_KEY_UNAVAILABLE,
            [KEY_REFUSED] = VERIFY_BAD_CERT,
            [KEY_UNKNOWN] = VERIFY_UNKNOWN_KEY};
    AUTO_PUBKEY EVP_PKEY *key = NULL;
    if (!request->keys || keyed->query.url.len == 0)
        return VERIFY_KEY_UNAVAILABLE;
    enum key_answer answer = request->keys->find(request->keys->user, &keyed->query, &key);
    if (answer != KEY_READY)
        return reasons[answer];
    *ret_secret = -1;
    return signed_by(keyed, key) ? VERIFY_OK : VERIFY_NO_MATCH;
}

enum verify_reason keyed_verify(const struct keyed *keyed, const struct source *source,
        const struct verify_request *request, int *ret_secret)
{
    return keyed_pinned(source) ? by_secrets(keyed, source, request, ret_secret)
                                : by_published(keyed, request, ret_secret);
}
