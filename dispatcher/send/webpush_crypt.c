#include "dispatcher/send/webpush_crypt.h"

#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/obj_mac.h>

#define RECORD_SIZE 4096
#define POINT 65
#define TAG 16

static void free_group(EC_GROUP **group)
{
    EC_GROUP_free(*group);
}
static void free_point(EC_POINT **point)
{
    EC_POINT_free(*point);
}
static void free_secret(BIGNUM **number)
{
    BN_clear_free(*number);
}
static void free_cipher(EVP_CIPHER_CTX **ctx)
{
    EVP_CIPHER_CTX_free(*ctx);
}
#define AUTO_GROUP __attribute__((cleanup(free_group)))
#define AUTO_POINT __attribute__((cleanup(free_point)))
#define AUTO_SECRET __attribute__((cleanup(free_secret)))
#define AUTO_CIPHER __attribute__((cleanup(free_cipher)))

static size_t write_point(const EC_GROUP *group, const EC_POINT *point, unsigned char out[POINT])
{
    return EC_POINT_point2oct(group, point, POINT_CONVERSION_UNCOMPRESSED, out, POINT, NULL);
}

// Our public point, and the x of the point that both sides can make (ECDH).
static bool agree(const struct webpush_keys *keys, const unsigned char secret[32],
        unsigned char ret_public[POINT], unsigned char ret_shared[32])
{
    AUTO_GROUP EC_GROUP *group = EC_GROUP_new_by_curve_name(NID_X9_62_prime256v1);
    AUTO_SECRET BIGNUM *number = BN_secure_new();
    AUTO_POINT EC_POINT *ours = group ? EC_POINT_new(group) : NULL;
    AUTO_POINT EC_POINT *theirs = group ? EC_POINT_new(group) : NULL;
    unsigned char both[POINT];
    if (!number || !ours || !theirs || !BN_bin2bn(secret, 32, number) || BN_is_zero(number) ||
            BN_cmp(number, EC_GROUP_get0_order(group)) >= 0 ||
            EC_POINT_mul(group, ours, number, NULL, NULL, NULL) != 1 ||
            write_point(group, ours, ret_public) != POINT)
        return false;
    // Checks that it lies on the curve.
    if (keys->public[0] != 4 || EC_POINT_oct2point(group, theirs, keys->public, POINT, NULL) != 1 ||
            EC_POINT_mul(group, ours, NULL, theirs, number, NULL) != 1 ||
            write_point(group, ours, both) != POINT)
        return false;
    memcpy(ret_shared, both + 1, 32);
    OPENSSL_cleanse(both, sizeof both);
    return true;
}

static bool hmac(struct slice key, struct slice bytes, unsigned char out[32])
{
    unsigned len = 32;
    return HMAC(EVP_sha256(), key.ptr, (int)key.len, bytes.ptr, bytes.len, out, &len) && len == 32;
}

// HKDF (RFC 5869) with SHA-256, at most one block of output. info ends with the octet 1.
static bool hkdf(struct slice salt, struct slice secret, struct slice info, unsigned char out[32])
{
    unsigned char middle[32];
    bool ok = hmac(salt, secret, middle) && hmac((struct slice){middle, sizeof middle}, info, out);
    OPENSSL_cleanse(middle, sizeof middle);
    return ok;
}

// RFC 8291 3.4: what follows the ECDH secret through the browser's auth secret.
static bool input_key(const struct webpush_keys *keys, const unsigned char public[POINT],
        const unsigned char shared[32], unsigned char out[32])
{
    static const char label[] = "WebPush: info"; // its NUL counts
    unsigned char info[sizeof label + 2 * POINT + 1];
    memcpy(info, label, sizeof label);
    memcpy(info + sizeof label, keys->public, POINT);
    memcpy(info + sizeof label + POINT, public, POINT);
    info[sizeof info - 1] = 1;
    return hkdf((struct slice){keys->auth, sizeof keys->auth}, (struct slice){shared, 32},
            (struct slice){info, sizeof info}, out);
}

static bool seal(const unsigned char key[16], const unsigned char nonce[12], struct slice plain,
        struct text *out)
{
    static const unsigned char last = 2; // delimiter of the last record
    unsigned char coded[RECORD_SIZE], tag[TAG];
    AUTO_CIPHER EVP_CIPHER_CTX *ctx = EVP_CIPHER_CTX_new();
    int n = 0, end = 0, none = 0;
    if (plain.len > sizeof coded - 1 || !ctx ||
            EVP_EncryptInit_ex(ctx, EVP_aes_128_gcm(), NULL, key, nonce) != 1 ||
            EVP_EncryptUpdate(ctx, coded, &n, plain.ptr, (int)plain.len) != 1 ||
            EVP_EncryptUpdate(ctx, coded + n, &end, &last, 1) != 1 ||
            EVP_EncryptFinal_ex(ctx, coded + n + end, &none) != 1 ||
            EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_GCM_GET_TAG, TAG, tag) != 1)
        return false;
    return text_add(out, (struct slice){coded, (size_t)(n + end)}) &&
           text_add(out, (struct slice){tag, TAG});
}

// RFC 8188 2.1: salt, record size, length of the key id, which is our public point.
static bool add_header(
        const unsigned char salt[16], const unsigned char public[POINT], struct text *out)
{
    static const unsigned char middle[] = {0, 0, RECORD_SIZE >> 8, RECORD_SIZE & 255, POINT};
    return text_add(out, (struct slice){salt, 16}) &&
           text_add(out, (struct slice){middle, sizeof middle}) &&
           text_add(out, (struct slice){public, POINT});
}

bool webpush_encrypt(struct slice plain, const struct webpush_keys *keys,
        const struct webpush_fresh *fresh, struct text *out, struct err *err)
{
    unsigned char public[POINT], shared[32], ikm[32], key[32], nonce[32];
    struct slice salt = {fresh->salt, sizeof fresh->salt};
    if (!agree(keys, fresh->secret, public, shared))
        return err_set(err, ERR_INPUT, "the subscription's key is no point of P-256");
    // The octet after each label is its NUL, the one behind it HKDF's counter.
    bool ok = input_key(keys, public, shared, ikm) &&
              hkdf(salt, (struct slice){ikm, 32}, SLICE("Content-Encoding: aes128gcm\0\1"), key) &&
              hkdf(salt, (struct slice){ikm, 32}, SLICE("Content-Encoding: nonce\0\1"), nonce) &&
              add_header(fresh->salt, public, out) && seal(key, nonce, plain, out);
    OPENSSL_cleanse(shared, sizeof shared);
    OPENSSL_cleanse(ikm, sizeof ikm);
    OPENSSL_cleanse(key, sizeof key);
    return ok || err_set(err, ERR_INPUT, "the message is too large for a push");
}
