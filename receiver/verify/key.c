#include "receiver/verify/key.h"

#include "receiver/pubkey.h"
#include "receiver/verify/mac.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/x509.h>
#ifdef PAWL_UNISTRING
#include <uninorm.h>
#endif

void sign_key_fini(struct sign_key *key)
{
    EVP_PKEY_free(key->pkey);
    if (key->used)
        OPENSSL_cleanse(key->room, sizeof key->room);
}

// "whpk_" and "whsk_" say that a key is one of a pair, and it is never taken for a shared secret:
// everybody knows the public one. The private one is its seed, with or without the public half.
static bool named_pair(struct slice secret, struct sign_key *key)
{
    key->kind = slice_starts(secret, SLICE("whsk_")) ? SIGN_KEY_PRIVATE : SIGN_KEY_PUBLIC;
    size_t len = 0;
    struct slice text = {secret.ptr + 5, secret.len - 5};
    if (!encoding_decode_any(ENCODING_BASE64, text, key->room, sizeof key->room, &len))
        return false;
    key->bytes = (struct slice){key->room, ED25519_KEY};
    return len == ED25519_KEY || (key->kind == SIGN_KEY_PRIVATE && len == 2 * ED25519_KEY);
}

static bool is_named_pair(struct slice secret)
{
    return slice_starts(secret, SLICE("whpk_")) || slice_starts(secret, SLICE("whsk_"));
}

static bool decoded(enum scheme_encoding encoding, struct slice secret, struct sign_key *key)
{
    size_t len = 0;
    if (!encoding_decode_any(encoding, secret, key->room, sizeof key->room, &len))
        return false;
    key->bytes = (struct slice){key->room, len};
    return len != 0;
}

static bool is_ascii(struct slice text)
{
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] > 0x7e)
            return false;
    }
    return true;
}

// https://unicode.org/reports/tr15/. ASCII is its own NFKD; other text needs the library, and what
// is no UTF-8 has none.
static bool normalised(struct slice secret, struct sign_key *key)
{
    key->bytes = secret;
    if (is_ascii(secret))
        return secret.len != 0;
#ifdef PAWL_UNISTRING
    size_t len = sizeof key->room;
    uint8_t *made = u8_normalize(UNINORM_NFKD, secret.ptr, secret.len, key->room, &len);
    if (made && made != key->room) { // too long for the room
        OPENSSL_cleanse(made, len);
        free(made);
        made = NULL;
    }
    key->bytes = (struct slice){key->room, len};
    return made != NULL;
#else
    return false;
#endif
}

static bool hashed(struct slice secret, struct sign_key *key)
{
    size_t len = 0;
    key->bytes = (struct slice){key->room, 20};
    return secret.len && EVP_Q_digest(NULL, "SHA1", NULL, secret.ptr, secret.len, key->room, &len);
}

static bool shared_key(enum scheme_key how, struct slice secret, struct sign_key *key)
{
    struct slice prefix = SLICE("whsec_");
    switch (how) {
    case SECRET_WHSEC:
        if (slice_starts(secret, prefix))
            secret = (struct slice){secret.ptr + prefix.len, secret.len - prefix.len};
        return decoded(ENCODING_BASE64, secret, key);
    case SECRET_BASE64:
        return decoded(ENCODING_BASE64, secret, key);
    case SECRET_HEX:
        return decoded(ENCODING_HEX, secret, key);
    case SECRET_SHA1:
        return hashed(secret, key);
    case SECRET_NFKD:
        return normalised(secret, key);
    case SECRET_PEM:
        return false;
    case SECRET_VERBATIM:
        break;
    }
    key->bytes = secret;
    return secret.len != 0;
}

// SubjectPublicKeyInfo (RFC 5280 §4.1) in base64, as SendGrid shows it.
static EVP_PKEY *key_of_der(struct slice text)
{
    unsigned char der[KEY_ROOM];
    const unsigned char *at = der;
    size_t len = 0;
    if (!encoding_decode_any(ENCODING_BASE64, text, der, sizeof der, &len))
        return NULL;
    EVP_PKEY *pkey = d2i_PUBKEY(NULL, &at, (long)len);
    if (pkey && at == der + len)
        return pkey;
    EVP_PKEY_free(pkey);
    return NULL;
}

static EVP_PKEY *key_of_text(struct slice text)
{
    return pubkey_is_pem(text) ? pubkey_of_pem(text, 0) : key_of_der(text);
}

// A certificate is read each time: it may have ended.
static bool is_certificate(struct slice text)
{
    return text.len && memmem(text.ptr, text.len, "CERTIFICATE", 11);
}

static bool object_key(
        enum scheme_algorithm algorithm, struct slice secret, int64_t now_s, struct sign_key *key)
{
    key->kind = SIGN_KEY_OBJECT;
    key->pkey =
            is_certificate(secret) ? pubkey_of_pem(secret, now_s) : key_kept(secret, key_of_text);
    return key->pkey && pubkey_usable(key->pkey) &&
           EVP_PKEY_is_a(key->pkey, algorithm == SIGN_RSA_SHA256 ? "RSA" : "EC");
}

bool sign_key_make(const struct scheme *row, enum scheme_algorithm algorithm, struct slice secret,
        int64_t now_s, struct sign_key *key)
{
    bool named = (row->ed25519 || algorithm == SIGN_ED25519) && is_named_pair(secret);
    key->used = named || row->key != SECRET_VERBATIM;
    if (named)
        return named_pair(secret, key);
    if (algorithm == SIGN_ECDSA_P256 || algorithm == SIGN_RSA_SHA256)
        return object_key(algorithm, secret, now_s, key);
    key->kind = algorithm == SIGN_ED25519 ? SIGN_KEY_PUBLIC : SIGN_KEY_SHARED;
    return shared_key(row->key, secret, key) &&
           (algorithm != SIGN_ED25519 || key->bytes.len == ED25519_KEY);
}

bool pair_verify(EVP_PKEY *pkey, const struct slice pieces[], size_t n, struct slice signature)
{
    EVP_MD_CTX *ctx = EVP_MD_CTX_new();
    bool ok = ctx && EVP_DigestVerifyInit(ctx, NULL, EVP_sha256(), NULL, pkey) == 1;
    for (size_t i = 0; ok && i < n; i++)
        ok = pieces[i].len == 0 || EVP_DigestVerifyUpdate(ctx, pieces[i].ptr, pieces[i].len) == 1;
    ok = ok && EVP_DigestVerifyFinal(ctx, signature.ptr, signature.len) == 1;
    EVP_MD_CTX_free(ctx);
    return ok;
}
