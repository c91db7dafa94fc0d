// OpenSSL 3's EVP_MAC allocates five times for each digest of a body and takes half as long again;
// these plain structs need no context, and no thread keeps one.
#define OPENSSL_SUPPRESS_DEPRECATED
#include "receiver/verify/mac.h"

#include <openssl/crypto.h>
#include <openssl/sha.h>

enum { BLOCK_MAX = 128 };

union hashing {
    SHA_CTX sha1;
    SHA256_CTX sha256;
    SHA512_CTX sha512;
};

// One shape for three hashes; each returns 1 as OpenSSL's do.
#define HASH(name, NAME, member)                                                                   \
    static int name##_begin(union hashing *state)                                                  \
    {                                                                                              \
        return NAME##_Init(&state->member);                                                        \
    }                                                                                              \
    static int name##_add(union hashing *state, struct slice bytes)                                \
    {                                                                                              \
        return NAME##_Update(&state->member, bytes.ptr, bytes.len);                                \
    }                                                                                              \
    static int name##_end(union hashing *state, unsigned char *out)                                \
    {                                                                                              \
        return NAME##_Final(out, &state->member);                                                  \
    }
HASH(sha1, SHA1, sha1)
HASH(sha256, SHA256, sha256)
HASH(sha512, SHA512, sha512)

static const struct hash {
    size_t size, block;
    int (*begin)(union hashing *state);
    int (*add)(union hashing *state, struct slice bytes);
    int (*end)(union hashing *state, unsigned char *out);
} hashes[] = {
        [HMAC_SHA1] = {SHA_DIGEST_LENGTH, SHA_CBLOCK, sha1_begin, sha1_add, sha1_end},
        [HMAC_SHA256] = {SHA256_DIGEST_LENGTH, SHA256_CBLOCK, sha256_begin, sha256_add, sha256_end},
        [HMAC_SHA512] = {SHA512_DIGEST_LENGTH, SHA512_CBLOCK, sha512_begin, sha512_add, sha512_end},
};

size_t mac_size(enum scheme_algorithm algorithm)
{
    return hashes[algorithm].size;
}

static bool hash_of(const struct hash *hash, struct slice first, const struct slice pieces[],
        size_t n, unsigned char *out)
{
    union hashing state;
    bool ok = hash->begin(&state) == 1 && hash->add(&state, first) == 1;
    for (size_t i = 0; ok && i < n; i++)
        ok = pieces[i].len == 0 || hash->add(&state, pieces[i]) == 1;
    ok = ok && hash->end(&state, out) == 1;
    OPENSSL_cleanse(&state, sizeof state);
    return ok;
}

// RFC 2104 §2: a key that is longer than a block is hashed, a shorter one is filled up with zeros.
static bool key_block(const struct hash *hash, struct slice key, unsigned char block[BLOCK_MAX])
{
    memset(block, 0, BLOCK_MAX);
    if (key.len > hash->block)
        return hash_of(hash, key, NULL, 0, block);
    memcpy(block, key.ptr, key.len);
    return true;
}

static void turn(unsigned char block[BLOCK_MAX], unsigned char with)
{
    for (size_t i = 0; i < BLOCK_MAX; i++)
        block[i] ^= with;
}

bool mac_of(enum scheme_algorithm algorithm, struct slice key, const struct slice pieces[],
        size_t n, unsigned char out[SCHEME_DIGEST_MAX])
{
    const struct hash *hash = &hashes[algorithm];
    unsigned char block[BLOCK_MAX];
    struct slice pad = {block, hash->block}, inner = {out, hash->size};
    if (key.len == 0 || !key_block(hash, key, block))
        return false;
    turn(block, 0x36);
    bool ok = hash_of(hash, pad, pieces, n, out);
    turn(block, 0x36 ^ 0x5c);
    ok = ok && hash_of(hash, pad, &inner, 1, out);
    OPENSSL_cleanse(block, sizeof block);
    return ok;
}
