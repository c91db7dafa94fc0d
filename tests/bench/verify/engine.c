// What one verification costs beside OpenSSL's HMAC of the same bytes, on one core:
//   engine hmac|stripe|github SOURCES SECONDS
// Prints {"per_s": verifications a second of processor time, "mallocs": allocations a
// verification, "against_one": the same in proportion to one source's, asked in turn}.
#include "receiver/verify/mac.h"
#include "receiver/verify/verify.h"

#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/params.h>
#include <stdio.h>
#include <time.h>

enum {
    BODY = 512,
    NOW = 1795961472,
    ROUND = 2000,
    NAME = 24,
    SOURCES_MAX = 10000,
    TURNS_MAX = 100000
};

// Every allocation of the process, libcrypto's too, comes here.
static long allocations;
void *__libc_malloc(size_t size);
void *malloc(size_t size)
{
    allocations++;
    return __libc_malloc(size);
}

static const char secret[] = "whsec_a_secret_of_the_usual_length";
static char body[BODY + 1];

static double cpu_s(void)
{
    struct timespec at;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &at);
    return (double)at.tv_sec + (double)at.tv_nsec / 1e9;
}

// --- OpenSSL alone: the fastest way that it documents, its key set once.

static EVP_MAC_CTX *mac_new(void)
{
    char digest[] = "SHA256";
    OSSL_PARAM params[] = {OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, digest, 0),
            OSSL_PARAM_construct_end()};
    EVP_MAC *mac = EVP_MAC_fetch(NULL, "HMAC", NULL);
    EVP_MAC_CTX *ctx = EVP_MAC_CTX_new(mac);
    EVP_MAC_free(mac);
    if (EVP_MAC_init(ctx, (const unsigned char *)secret, strlen(secret), params) != 1)
        abort();
    return ctx;
}

static void hmac_round(EVP_MAC_CTX *ctx)
{
    unsigned char out[SCHEME_DIGEST_MAX];
    size_t len;
    for (int i = 0; i < ROUND; i++) {
        if (EVP_MAC_init(ctx, NULL, 0, NULL) != 1 ||
                EVP_MAC_update(ctx, (const unsigned char *)body, BODY) != 1 ||
                EVP_MAC_final(ctx, out, &len, sizeof out) != 1)
            abort();
    }
}

// --- the engine: a source looked up by its name, its request verified

struct bed {
    struct policy policy;
    struct {
        size_t len;
        char of[NAME];
    } asked[SOURCES_MAX]; // the sources' names, as a request has them
    struct verify_request request;
    struct verify_header headers[10];
    char signature[128];
    size_t next; // the source that is asked next
};

static void bed_sources(struct bed *bed, const char *scheme, size_t n)
{
    struct source *sources = xcalloc(n, sizeof *sources);
    for (size_t i = 0; i < n; i++) {
        struct secret *held = xcalloc(1, sizeof *held);
        held->value = slice_of(secret);
        sources[i] = (struct source){.scheme = strdup(scheme),
                .scheme_row = scheme_known_row(scheme),
                .secrets = held,
                .n_secrets = 1};
        char name[NAME] = "";
        snprintf(name, sizeof name, "source-%05zu", i); // of one length: more to hash is no miss
        sources[i].name = strdup(name);
        bed->asked[i].len = strlen(name);
        memcpy(bed->asked[i].of, name, sizeof name);
    }
    bed->policy = (struct policy){.sources = sources, .n_sources = n};
    policy_index(&bed->policy);
}

// As a provider's library for HTTP writes them, the signature's among the last.
static void bed_request(struct bed *bed, bool timed)
{
    static const char *const usual[][2] = {{"Host", "hooks.example.com"},
            {"User-Agent", "Provider/1.0 (+https://provider.example/docs/webhooks)"},
            {"Content-Length", "512"}, {"Accept", "*/*; q=0.5, application/xml"},
            {"Cache-Control", "no-cache"}, {"Content-Type", "application/json; charset=utf-8"},
            {"X-Forwarded-For", "192.0.2.1"}};
    struct verify_request *request = &bed->request;
    for (size_t i = 0; i < ARRAY_LEN(usual); i++)
        bed->headers[request->n_headers++] =
                (struct verify_header){slice_of(usual[i][0]), slice_of(usual[i][1])};
    unsigned char digest[SCHEME_DIGEST_MAX];
    char hex[2 * SCHEME_DIGEST_MAX + 1] = "";
    struct slice pieces[] = {timed ? SLICE("1795961472.") : SLICE(""), slice_of(body)};
    if (!mac_of(HMAC_SHA256, slice_of(secret), pieces, ARRAY_LEN(pieces), digest))
        abort();
    for (size_t i = 0; i < mac_size(HMAC_SHA256); i++)
        snprintf(hex + 2 * i, 3, "%02x", digest[i]);
    snprintf(
            bed->signature, sizeof bed->signature, timed ? "t=1795961472,v1=%s" : "sha256=%s", hex);
    bed->headers[request->n_headers++] = (struct verify_header){
            slice_of(timed ? "Stripe-Signature" : "X-Hub-Signature-256"), slice_of(bed->signature)};
    bed->headers[request->n_headers++] =
            (struct verify_header){SLICE("X-GitHub-Delivery"), SLICE("72d3162e-cc78-11e3-81ab")};
    bed->headers[request->n_headers++] =
            (struct verify_header){SLICE("X-GitHub-Event"), SLICE("push")};
    request->method = SLICE("POST");
    request->target = SLICE("/hooks/source");
    request->headers = bed->headers;
    request->body = slice_of(body);
    request->now_s = NOW;
}

static void engine_round(struct bed *bed)
{
    for (int i = 0; i < ROUND; i++) {
        // Not one behind the other, so that no cache knows the next.
        size_t next = (bed->next + 7919) % bed->policy.n_sources;
        // The name alone is near, as what has just been read of a connection is.
        __builtin_prefetch(&bed->asked[(next + 7919) % bed->policy.n_sources]);
        bed->next = next;
        struct slice name = {
                (const unsigned char *)bed->asked[bed->next].of, bed->asked[bed->next].len};
        const struct source *source = policy_source(&bed->policy, name);
        if (!source || verify_request(source, &bed->request).reason != VERIFY_OK)
            abort();
    }
}

// The seconds of a round.
static double round_s(struct bed *bed, EVP_MAC_CTX *ctx)
{
    double start = cpu_s();
    if (ctx)
        hmac_round(ctx);
    else
        engine_round(bed);
    return cpu_s() - start;
}

static int by_size(const void *a, const void *b)
{
    const double *one = a, *other = b;
    return (*one > *other) - (*one < *other);
}

static double median(double *values, size_t n)
{
    qsort(values, n, sizeof *values, by_size);
    return values[n / 2];
}

// Rounds take turns with those of `other`, so that both meet the same moments of the machine.
static void measure(struct bed *bed, struct bed *other, EVP_MAC_CTX *ctx, double seconds)
{
    static double ratios[TURNS_MAX];
    size_t n = 0;
    double spent = 0;
    round_s(bed, ctx); // fills the caches
    long before = allocations;
    while (n < TURNS_MAX && spent < seconds) {
        double of_other = other ? round_s(other, NULL) : 1.0, own = round_s(bed, ctx);
        ratios[n++] = of_other / own;
        spent += own;
    }
    double done = (double)n * ROUND;
    printf("{\"per_s\": %.1f, \"mallocs\": %.3f, \"against_one\": %.4f}\n", done / spent,
            (double)(allocations - before) / done, other ? median(ratios, n) : 1.0);
}

static struct bed *bed_new(const char *scheme, size_t n)
{
    struct bed *bed = xcalloc(1, sizeof *bed);
    bed_sources(bed, scheme, n);
    bed_request(bed, strcmp(scheme, "stripe") == 0);
    return bed;
}

int main(int argc, char **argv)
{
    if (argc != 4) {
        fprintf(stderr, "usage: engine hmac|stripe|github SOURCES SECONDS\n");
        return 2;
    }
    size_t n = strtoul(argv[2], NULL, 10);
    double seconds = strtod(argv[3], NULL);
    if (n == 0 || n > SOURCES_MAX)
        return 2;
    memset(body, 'x', BODY);
    if (strcmp(argv[1], "hmac") == 0)
        measure(NULL, NULL, mac_new(), seconds);
    else
        measure(bed_new(argv[1], n), n > 1 ? bed_new(argv[1], 1) : NULL, NULL, seconds);
    return 0;
}
