// The public keys that this thread parsed last: reading one costs more than proving by it.
#include "receiver/verify/key.h"

#include "common/keys.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <pthread.h>

enum { KEPT = 8, DIGEST = 32 };

struct kept {
    struct {
        unsigned char of[DIGEST]; // the text's
        EVP_PKEY *pkey;
    } rows[KEPT];
    size_t next;
};
static _Thread_local struct kept *mine;
static pthread_key_t at_exit;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool have_key;

static void kept_free(void *ptr)
{
    struct kept *kept = ptr;
    for (size_t i = 0; i < KEPT; i++)
        EVP_PKEY_free(kept->rows[i].pkey);
    free(kept);
    mine = NULL;
}

static void make_key(void)
{
    have_key = pthread_key_create(&at_exit, kept_free) == 0;
}

static struct kept *kept_of_thread(void)
{
    if (mine)
        return mine;
    pthread_once(&once, make_key);
    if (!have_key)
        abort();
    mine = xcalloc(1, sizeof *mine);
    pthread_setspecific(at_exit, mine);
    return mine;
}

EVP_PKEY *key_kept(struct slice text, EVP_PKEY *(*parse)(struct slice text))
{
    struct kept *kept = kept_of_thread();
    unsigned char digest[DIGEST];
    sha256_of(text, digest);
    for (size_t i = 0; i < KEPT; i++) {
        EVP_PKEY *pkey = kept->rows[i].pkey;
        if (pkey && CRYPTO_memcmp(kept->rows[i].of, digest, DIGEST) == 0)
            return EVP_PKEY_up_ref(pkey) == 1 ? pkey : NULL;
    }
    EVP_PKEY *made = parse(text);
    if (!made || EVP_PKEY_up_ref(made) != 1)
        return made;
    size_t at = kept->next++ % KEPT;
    EVP_PKEY_free(kept->rows[at].pkey);
    kept->rows[at].pkey = made;
    memcpy(kept->rows[at].of, digest, DIGEST);
    return made;
}
