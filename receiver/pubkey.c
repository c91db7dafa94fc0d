#include "receiver/pubkey.h"

#include "common/base64.h"
#include "common/json/scan.h"

#include <limits.h>
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

enum { P256_BYTES = 32, RSA_BYTES_MAX = PUBKEY_RSA_BITS_MAX / 8, PEM_MAX = 65536 };

void pubkey_drop(EVP_PKEY **key)
{
    EVP_PKEY_free(*key);
    *key = NULL;
}

static bool is_p256(const EVP_PKEY *key)
{
    char group[64] = "";
    return EVP_PKEY_get_utf8_string_param(
                   key, OSSL_PKEY_PARAM_GROUP_NAME, group, sizeof group, NULL) == 1 &&
           strcmp(group, "prime256v1") == 0;
}

bool pubkey_usable(const EVP_PKEY *key)
{
    int bits = EVP_PKEY_get_bits(key);
    if (EVP_PKEY_is_a(key, "RSA"))
        return bits >= PUBKEY_RSA_BITS_MIN && bits <= PUBKEY_RSA_BITS_MAX;
    return EVP_PKEY_is_a(key, "EC") && is_p256(key);
}

bool pubkey_is_pem(struct slice text)
{
    return slice_starts(text, SLICE("-----BEGIN "));
}

static EVP_PKEY *usable_or_none(EVP_PKEY *key)
{
    if (!key || pubkey_usable(key))
        return key;
    EVP_PKEY_free(key);
    return NULL;
}

static EVP_PKEY *of_certificate(BIO *bio, int64_t now_s)
{
    X509 *certificate = PEM_read_bio_X509(bio, NULL, NULL, NULL);
    if (!certificate)
        return NULL;
    time_t now = (time_t)now_s;
    bool valid = X509_cmp_time(X509_get0_notBefore(certificate), &now) < 0 &&
                 X509_cmp_time(X509_get0_notAfter(certificate), &now) > 0;
    EVP_PKEY *key = valid ? X509_get_pubkey(certificate) : NULL;
    X509_free(certificate);
    return key;
}

EVP_PKEY *pubkey_of_pem(struct slice pem, int64_t now_s)
{
    BIO *bio = pem.len && pem.len <= PEM_MAX ? BIO_new_mem_buf(pem.ptr, (int)pem.len) : NULL;
    if (!bio)
        return NULL;
    bool certificate = slice_starts(pem, SLICE("-----BEGIN CERTIFICATE-----"));
    EVP_PKEY *key =
            certificate ? of_certificate(bio, now_s) : PEM_read_bio_PUBKEY(bio, NULL, NULL, NULL);
    BIO_free(bio);
    return usable_or_none(key);
}

static EVP_PKEY *key_from(const char *type, OSSL_PARAM_BLD *build)
{
    OSSL_PARAM *params = OSSL_PARAM_BLD_to_param(build);
    EVP_PKEY_CTX *ctx = EVP_PKEY_CTX_new_from_name(NULL, type, NULL);
    EVP_PKEY *key = NULL;
    if (!params || !ctx || EVP_PKEY_fromdata_init(ctx) != 1 ||
            EVP_PKEY_fromdata(ctx, &key, EVP_PKEY_PUBLIC_KEY, params) != 1)
        key = NULL;
    EVP_PKEY_CTX_free(ctx);
    OSSL_PARAM_free(params);
    return key;
}

// A string member of base64url, decoded.
struct octets {
    unsigned char bytes[RSA_BYTES_MAX];
    size_t len;
};

static bool read_octets(const struct json_result *member, struct octets *out)
{
    struct slice raw = member->token.raw;
    if (member->found != JSON_FOUND || member->token.kind != JSON_KIND_STRING)
        return false;
    // An escape is no character of base64url, so the token's own bytes do.
    return base64url_decode(
            (struct slice){raw.ptr + 1, raw.len - 2}, out->bytes, sizeof out->bytes, &out->len);
}

// RFC 7518 §6.2.1: both coordinates in full length.
static EVP_PKEY *of_ec(const struct json_result *x, const struct json_result *y)
{
    struct octets a, b;
    unsigned char point[1 + 2 * P256_BYTES] = {POINT_CONVERSION_UNCOMPRESSED};
    if (!read_octets(x, &a) || !read_octets(y, &b) || a.len != P256_BYTES || b.len != P256_BYTES)
        return NULL;
    memcpy(point + 1, a.bytes, P256_BYTES);
    memcpy(point + 1 + P256_BYTES, b.bytes, P256_BYTES);
    OSSL_PARAM_BLD *build = OSSL_PARAM_BLD_new();
    bool made = build &&
                OSSL_PARAM_BLD_push_utf8_string(
                        build, OSSL_PKEY_PARAM_GROUP_NAME, "prime256v1", 0) == 1 &&
                OSSL_PARAM_BLD_push_octet_string(
                        build, OSSL_PKEY_PARAM_PUB_KEY, point, sizeof point) == 1;
    EVP_PKEY *key = made ? key_from("EC", build) : NULL;
    OSSL_PARAM_BLD_free(build);
    return key;
}

// RFC 7518 §6.3.1.
static EVP_PKEY *of_rsa(const struct json_result *modulus, const struct json_result *exponent)
{
    struct octets n, e;
    if (!read_octets(modulus, &n) || !read_octets(exponent, &e) || e.len == 0 || e.len > 8)
        return NULL;
    if ((e.bytes[e.len - 1] & 1) == 0 || (e.len == 1 && e.bytes[0] < 3))
        return NULL;
    BIGNUM *big_n = BN_bin2bn(n.bytes, (int)n.len, NULL);
    BIGNUM *big_e = BN_bin2bn(e.bytes, (int)e.len, NULL);
    OSSL_PARAM_BLD *build = OSSL_PARAM_BLD_new();
    bool made = build && big_n && big_e &&
                OSSL_PARAM_BLD_push_BN(build, OSSL_PKEY_PARAM_RSA_N, big_n) == 1 &&
                OSSL_PARAM_BLD_push_BN(build, OSSL_PKEY_PARAM_RSA_E, big_e) == 1;
    EVP_PKEY *key = made ? key_from("RSA", build) : NULL;
    OSSL_PARAM_BLD_free(build);
    BN_free(big_n);
    BN_free(big_e);
    return key;
}

static bool says(const struct json_result *member, const char *text)
{
    AUTO_TEXT struct text value = {.max = 32};
    return member->found == JSON_FOUND && json_text(member->token, &value, NULL) &&
           strcmp(text_cstr(&value), text) == 0;
}

static bool absent(const struct json_result *member)
{
    return member->found == JSON_MISSING;
}

enum { JWK_KTY, JWK_CRV, JWK_X, JWK_Y, JWK_N, JWK_E, JWK_KID, JWK_USE, JWK_D, JWK_MEMBERS };

static EVP_PKEY *of_members(const struct json_result *members)
{
    bool for_signing = absent(&members[JWK_USE]) || says(&members[JWK_USE], "sig");
    if (!for_signing || !absent(&members[JWK_D]))
        return NULL;
    if (says(&members[JWK_KTY], "EC") && says(&members[JWK_CRV], "P-256"))
        return usable_or_none(of_ec(&members[JWK_X], &members[JWK_Y]));
    if (says(&members[JWK_KTY], "RSA"))
        return usable_or_none(of_rsa(&members[JWK_N], &members[JWK_E]));
    return NULL;
}

static void add_jwk(struct slice jwk, struct pubkey_set *set)
{
    static const char *const pointers[JWK_MEMBERS] = {
            "/kty", "/crv", "/x", "/y", "/n", "/e", "/kid", "/use", "/d"};
    struct json_result members[JWK_MEMBERS];
    AUTO_TEXT struct text kid = {.max = PUBKEY_KID_MAX};
    if (set->n == PUBKEY_SET_MAX || !json_find(jwk, pointers, JWK_MEMBERS, members, NULL))
        return;
    for (size_t i = 0; i < JWK_MEMBERS; i++)
        if (members[i].found == JSON_DUPLICATE)
            return;
    if (!absent(&members[JWK_KID]) && !json_text(members[JWK_KID].token, &kid, NULL))
        return;
    EVP_PKEY *key = of_members(members);
    if (key)
        set->keys[set->n++] = (struct pubkey_named){text_steal(&kid), key};
}

bool pubkey_set_read(struct slice json, struct pubkey_set *ret_set, struct err *err)
{
    static const char *const pointers[] = {"/keys"};
    struct json_result keys;
    struct pubkey_set set = {.n = 0};
    if (!json_find(json, pointers, 1, &keys, err))
        return false;
    if (keys.found == JSON_DUPLICATE)
        return err_set(err, ERR_INPUT, "the key set names \"keys\" twice");
    struct json_token value;
    size_t at = 0;
    if (keys.found == JSON_MISSING)
        add_jwk(json, &set);
    else if (keys.token.kind == JSON_KIND_ARRAY)
        while (json_next(keys.token, &at, NULL, &value))
            add_jwk(value.raw, &set);
    if (set.n == 0)
        return err_set(err, ERR_INPUT, "the key set holds no RSA key of %d bits and none on P-256",
                PUBKEY_RSA_BITS_MIN);
    *ret_set = set;
    return true;
}

void pubkey_set_fini(struct pubkey_set *set)
{
    for (size_t i = 0; i < set->n; i++) {
        free(set->keys[i].kid);
        EVP_PKEY_free(set->keys[i].key);
    }
    *set = (struct pubkey_set){.n = 0};
}

EVP_PKEY *pubkey_set_find(const struct pubkey_set *set, struct slice kid)
{
    for (size_t i = 0; i < set->n; i++)
        if (slice_eq(slice_of(set->keys[i].kid), kid))
            return set->keys[i].key;
    return NULL;
}
