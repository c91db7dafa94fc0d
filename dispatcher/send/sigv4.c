#include "dispatcher/send/sigv4.h"

#include "common/keys.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <stdio.h>
#include <time.h>

#define DIGEST 32
#define ALGORITHM "AWS4-HMAC-SHA256"
#define CANONICAL_MAX ((size_t)16 << 10)

void sigv4_time(int64_t now_s, char out[SIGV4_TIME])
{
    struct tm tm = {0};
    time_t now = (time_t)now_s;
    gmtime_r(&now, &tm);
    if (strftime(out, SIGV4_TIME, "%Y%m%dT%H%M%SZ", &tm) == 0)
        out[0] = '\0';
}

static void hex_of(const unsigned char digest[DIGEST], char out[2 * DIGEST + 1])
{
    for (size_t i = 0; i < DIGEST; i++)
        snprintf(out + 2 * i, 3, "%02x", digest[i]);
}

static void hash_hex(struct slice bytes, char out[2 * DIGEST + 1])
{
    unsigned char digest[DIGEST];
    sha256_of(bytes, digest);
    hex_of(digest, out);
}

static bool add_names(const struct sigv4_request *request, struct text *out)
{
    bool ok = true;
    for (size_t i = 0; ok && i < request->n_headers; i++)
        ok = text_fmt(out, "%s%s", i ? ";" : "", request->headers[i].name);
    return ok;
}

static bool add_canonical(const struct sigv4_request *request, struct text *out)
{
    char body[2 * DIGEST + 1];
    if (request->body_sha256)
        hex_of(request->body_sha256, body);
    else
        hash_hex(request->body, body);
    bool ok = text_fmt(out, "%s\n", request->method) && text_add(out, request->path) &&
              text_char(out, '\n') && text_add(out, request->query) && text_char(out, '\n');
    for (size_t i = 0; ok && i < request->n_headers; i++)
        ok = text_fmt(out, "%s:", request->headers[i].name) &&
             text_add(out, request->headers[i].value) && text_char(out, '\n');
    return ok && text_char(out, '\n') && add_names(request, out) && text_fmt(out, "\n%s", body);
}

static bool hmac(struct slice key, struct slice said, unsigned char out[DIGEST])
{
    unsigned len = 0;
    return key.len <= INT32_MAX &&
           HMAC(EVP_sha256(), key.ptr, (int)key.len, said.ptr, said.len, out, &len) &&
           len == DIGEST;
}

// The key of the day, the region and the service.
static bool derive(const struct sigv4 *how, const char *day, unsigned char key[DIGEST])
{
    const struct slice steps[] = {
            slice_of(day), slice_of(how->region), slice_of(how->service), SLICE("aws4_request")};
    AUTO_TEXT struct text first = {0};
    text_init(&first, 4096);
    bool ok = text_str(&first, "AWS4") && text_add(&first, how->secret);
    struct slice parent = text_slice(&first);
    for (size_t i = 0; ok && i < ARRAY_LEN(steps); i++) {
        unsigned char next[DIGEST];
        ok = hmac(parent, steps[i], next);
        memcpy(key, next, DIGEST);
        explicit_bzero(next, sizeof next);
        parent = (struct slice){key, DIGEST};
    }
    if (first.ptr)
        explicit_bzero(first.ptr, first.room);
    return ok;
}

bool sigv4_sign(const struct sigv4 *how, const struct sigv4_request *request, struct text *out,
        struct err *err)
{
    char at[SIGV4_TIME], hash[2 * DIGEST + 1], scope[200];
    unsigned char key[DIGEST], signature[DIGEST];
    AUTO_TEXT struct text canonical = {0};
    AUTO_TEXT struct text said = {0};
    text_init(&canonical, CANONICAL_MAX);
    text_init(&said, 1024);
    sigv4_time(how->now_s, at);
    int n = snprintf(scope, sizeof scope, "%.8s/%s/%s/aws4_request", at, how->region, how->service);
    if (n < 0 || (size_t)n >= sizeof scope || !add_canonical(request, &canonical))
        return err_set(err, ERR_FATAL, "the request is too long to be signed");
    hash_hex(text_slice(&canonical), hash);
    at[8] = '\0';
    bool ok = derive(how, at, key);
    at[8] = 'T';
    ok = ok && text_fmt(&said, ALGORITHM "\n%s\n%s\n%s", at, scope, hash) &&
         hmac((struct slice){key, DIGEST}, text_slice(&said), signature);
    explicit_bzero(key, sizeof key);
    if (!ok)
        return err_set(err, ERR_FATAL, "the request can't be signed");
    hex_of(signature, hash);
    return (text_fmt(out, ALGORITHM " Credential=%s/%s, SignedHeaders=", how->access, scope) &&
                   add_names(request, out) && text_fmt(out, ", Signature=%s", hash)) ||
           err_set(err, ERR_FATAL, "the signature is too long");
}
