#include "receiver/fetch/certificate.h"

#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

enum { CHAIN_MAX = 16, PEM_MAX = 65536, DEPTH_MAX = 6 };

struct trust {
    X509_STORE *store;
};

struct trust *trust_new(const char *ca, struct err *err)
{
    struct trust *trust = xcalloc(1, sizeof *trust);
    trust->store = X509_STORE_new();
    bool loaded = trust->store && (ca ? X509_STORE_load_file(trust->store, ca) == 1
                                      : X509_STORE_set_default_paths(trust->store) == 1);
    ERR_clear_error();
    if (loaded)
        return trust;
    err_set(err, ERR_INPUT, "can't read trusted certificates from \"%s\"", ca ? ca : "the system");
    trust_free(trust);
    return NULL;
}

void trust_free(struct trust *trust)
{
    if (!trust)
        return;
    X509_STORE_free(trust->store);
    free(trust);
}

// All certificates of a PEM text, at most CHAIN_MAX of a stack.
static void read_all(struct slice pem, STACK_OF(X509) * stack)
{
    BIO *bio = pem.len && pem.len <= PEM_MAX ? BIO_new_mem_buf(pem.ptr, (int)pem.len) : NULL;
    while (bio && sk_X509_num(stack) < CHAIN_MAX) {
        X509 *one = PEM_read_bio_X509(bio, NULL, NULL, NULL);
        if (!one)
            break;
        if (sk_X509_push(stack, one) <= 0) {
            X509_free(one);
            break;
        }
    }
    BIO_free(bio);
    ERR_clear_error(); // the end of the text is an error to OpenSSL
}

// Any purpose: these sign messages, they are no server's. Their names are checked apart.
static bool chain_ok(const struct trust *trust, X509 *leaf, STACK_OF(X509) * others, int64_t now_s,
        struct err *err)
{
    X509_STORE_CTX *ctx = X509_STORE_CTX_new();
    bool ok = ctx && X509_STORE_CTX_init(ctx, trust->store, leaf, others) == 1;
    if (ok) {
        X509_VERIFY_PARAM *param = X509_STORE_CTX_get0_param(ctx);
        X509_VERIFY_PARAM_set_time(param, (time_t)now_s);
        X509_VERIFY_PARAM_set_depth(param, DEPTH_MAX);
        X509_VERIFY_PARAM_set_auth_level(param, 1);
        ok = X509_verify_cert(ctx) == 1;
        if (!ok)
            err_set(err, ERR_AUTH, "certificate is not to be trusted: %s",
                    X509_verify_cert_error_string(X509_STORE_CTX_get_error(ctx)));
    }
    X509_STORE_CTX_free(ctx);
    ERR_clear_error();
    return ok;
}

static bool to_unix(const ASN1_TIME *time, int64_t *ret_s)
{
    struct tm parts;
    if (ASN1_TIME_to_tm(time, &parts) != 1)
        return false;
    *ret_s = timegm(&parts);
    return true;
}

static bool read_leaf(X509 *leaf, const char *domain, struct certificate *made, struct err *err)
{
    if (X509_check_host(leaf, domain, 0, 0, NULL) != 1)
        return err_set(err, ERR_AUTH, "certificate is of no name in \"%s\"", domain);
    if (!to_unix(X509_get0_notBefore(leaf), &made->from_s) ||
            !to_unix(X509_get0_notAfter(leaf), &made->until_s))
        return err_set(err, ERR_AUTH, "certificate's dates can't be read");
    made->key = X509_get_pubkey(leaf);
    if (made->key && pubkey_usable(made->key))
        return true;
    pubkey_drop(&made->key);
    return err_set(err, ERR_AUTH, "certificate's key is neither RSA of %d bits nor on P-256",
            PUBKEY_RSA_BITS_MIN);
}

bool certificate_read(const struct trust *trust, const struct certificate_text *text,
        const char *domain, int64_t now_s, struct certificate *ret_certificate, struct err *err)
{
    STACK_OF(X509) *all = sk_X509_new_null();
    if (!all)
        return err_set(err, ERR_FATAL, "out of memory");
    read_all(text->own, all);
    X509 *leaf = sk_X509_value(all, 0); // NULL when there is none
    read_all(text->beside, all);
    struct certificate made = {.key = NULL};
    bool ok = leaf ? chain_ok(trust, leaf, all, now_s, err) && read_leaf(leaf, domain, &made, err)
                   : err_set(err, ERR_INPUT, "no certificate in the answer");
    sk_X509_pop_free(all, X509_free);
    if (ok)
        *ret_certificate = made;
    return ok;
}
