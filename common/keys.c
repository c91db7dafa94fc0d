#include "common/keys.h"

#include <openssl/evp.h>
#include <openssl/rand.h>
#include <pthread.h>
#include <stdio.h>

// Fetched once: EVP_sha256() alone has OpenSSL 3 look the algorithm up at each use. Never freed.
static const EVP_MD *sha256;

static void fetch_sha256(void)
{
    sha256 = EVP_MD_fetch(NULL, "SHA256", NULL);
    if (!sha256)
        abort();
}

static const EVP_MD *sha256_md(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, fetch_sha256);
    return sha256;
}

void sha256_of(struct slice bytes, unsigned char out[32])
{
    if (EVP_Digest(bytes.ptr ? bytes.ptr : (const unsigned char *)"", bytes.len, out, NULL,
                sha256_md(), NULL) != 1)
        abort();
}

static void hash_part(EVP_MD_CTX *ctx, struct slice part)
{
    unsigned char prefix[8];
    for (int i = 0; i < 8; i++)
        prefix[i] = (unsigned char)((uint64_t)part.len >> (56 - 8 * i));
    if (EVP_DigestUpdate(ctx, prefix, sizeof prefix) != 1)
        abort();
    if (part.len && EVP_DigestUpdate(ctx, part.ptr, part.len) != 1)
        abort();
}

struct key key_derive(const struct slice *parts, size_t n)
{
    unsigned char digest[32];
    EVP_MD_CTX *ctx = EVP_MD_CTX_new();
    if (!ctx || EVP_DigestInit_ex(ctx, sha256_md(), NULL) != 1)
        abort();
    for (size_t i = 0; i < n; i++)
        hash_part(ctx, parts[i]);
    if (EVP_DigestFinal_ex(ctx, digest, NULL) != 1)
        abort();
    EVP_MD_CTX_free(ctx);
    struct key key;
    memcpy(key.bytes, digest, sizeof key.bytes);
    return key;
}

int key_bucket(struct key key)
{
    uint32_t head = (uint32_t)key.bytes[0] << 24 | (uint32_t)key.bytes[1] << 16 |
                    (uint32_t)key.bytes[2] << 8 | key.bytes[3];
    return (int)(head % BUCKETS);
}

void key_hex(struct key key, char out[KEY_HEX])
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < KEY_BYTES; i++) {
        out[2 * i] = digits[key.bytes[i] >> 4];
        out[2 * i + 1] = digits[key.bytes[i] & 15];
    }
    out[KEY_HEX - 1] = '\0';
}

static int hex_digit(unsigned char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

bool key_from_hex(struct slice hex, struct key *ret_key)
{
    struct key key = {{0}};
    size_t n = 0;
    for (size_t i = 0; i < hex.len; i++) {
        if (hex.ptr[i] == '-')
            continue;
        int digit = hex_digit(hex.ptr[i]);
        if (digit < 0 || n == 2 * KEY_BYTES)
            return false;
        key.bytes[n / 2] = (unsigned char)(key.bytes[n / 2] << 4 | digit);
        n++;
    }
    if (n != 2 * KEY_BYTES)
        return false;
    *ret_key = key;
    return true;
}

struct key key_random(void)
{
    struct key key;
    if (RAND_bytes(key.bytes, sizeof key.bytes) != 1)
        abort();
    return key;
}

struct key key_event(struct slice source, struct slice scope, struct slice id)
{
    return key_derive((struct slice[]){SLICE("event"), source, scope, id}, 4);
}

struct key key_order(struct slice order_id)
{
    return key_derive((struct slice[]){SLICE("order"), order_id}, 2);
}

struct key key_notification(struct slice once)
{
    return key_derive((struct slice[]){SLICE("notification"), once}, 2);
}

struct key key_delivery(struct key notification, int channel, struct slice target, int redrive)
{
    char step[64];
    int n = snprintf(step, sizeof step, "%d/%d", channel, redrive);
    return key_derive((struct slice[]){SLICE("delivery"), {notification.bytes, KEY_BYTES},
                              {(const unsigned char *)step, (size_t)n}, target},
            4);
}
