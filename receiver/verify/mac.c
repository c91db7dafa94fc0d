#include "receiver/verify/mac.h"

#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/params.h>
#include <pthread.h>

static const struct {
    const char *digest;
    size_t size;
} algorithms[] = {
        [HMAC_SHA1] = {"SHA1", 20},
        [HMAC_SHA256] = {"SHA256", 32},
        [HMAC_SHA512] = {"SHA512", 64},
};

// One context an algorithm and thread: fetching the digest takes OpenSSL's global lock.
struct contexts {
    EVP_MAC_CTX *of[ARRAY_LEN(algorithms)];
};
static _Thread_local struct contexts *mine;
static pthread_key_t at_exit;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool have_key;

static void contexts_free(void *ptr)
{
    struct contexts *contexts = ptr;
    for (size_t i = 0; i < ARRAY_LEN(contexts->of); i++)
        EVP_MAC_CTX_free(contexts->of[i]);
    free(contexts);
    mine = NULL;
}

static void make_key(void)
{
    have_key = pthread_key_create(&at_exit, contexts_free) == 0;
}

static EVP_MAC_CTX *context_new(enum scheme_algorithm algorithm)
{
    EVP_MAC *mac = EVP_MAC_fetch(NULL, "HMAC", NULL);
    EVP_MAC_CTX *ctx = mac ? EVP_MAC_CTX_new(mac) : NULL;
    EVP_MAC_free(mac); // the context holds its own reference
    char digest[16];
    snprintf(digest, sizeof digest, "%s", algorithms[algorithm].digest);
    OSSL_PARAM params[] = {OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, digest, 0),
            OSSL_PARAM_construct_end()};
    if (!ctx || EVP_MAC_CTX_set_params(ctx, params) != 1)
        abort(); // as out of memory: libcrypto without HMAC can't be worked with
    return ctx;
}

static EVP_MAC_CTX *context_of(enum scheme_algorithm algorithm)
{
    if (!mine) {
        pthread_once(&once, make_key);
        if (!have_key)
            abort();
        mine = xcalloc(1, sizeof *mine);
        pthread_setspecific(at_exit, mine);
    }
    if (!mine->of[algorithm])
        mine->of[algorithm] = context_new(algorithm);
    return mine->of[algorithm];
}

size_t mac_size(enum scheme_algorithm algorithm)
{
    return algorithms[algorithm].size;
}

bool mac_of(enum scheme_algorithm algorithm, struct slice key, const struct slice pieces[],
        size_t n, unsigned char out[SCHEME_DIGEST_MAX])
{
    if (key.len == 0)
        return false;
    EVP_MAC_CTX *ctx = context_of(algorithm);
    if (EVP_MAC_init(ctx, key.ptr, key.len, NULL) != 1)
        return false;
    for (size_t i = 0; i < n; i++) {
        if (pieces[i].len && EVP_MAC_update(ctx, pieces[i].ptr, pieces[i].len) != 1)
            return false;
    }
    size_t len = 0;
    return EVP_MAC_final(ctx, out, &len, SCHEME_DIGEST_MAX) == 1 && len == mac_size(algorithm);
}
