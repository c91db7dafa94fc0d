// Fuzzes the rule for certificates' URLs, the reader of tokens, key sets and PEM, and the URL that
// confirms a subscription. tests/fuzz/test_fuzz.py builds and runs it.
// The first byte picks what is fuzzed. Properties: a URL that the rule takes is one of the
// provider's by a second, simpler reading; a token that nobody signed is not accepted; a confirming
// URL goes to AWS whatever the body says.
#include "receiver/pubkey.h"
#include "receiver/verify/cert_url.h"
#include "receiver/verify/jwt_token.h"
#include "receiver/verify/sns.h"

#include <stdio.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { NOW = 1795961472 };

static void must(bool holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "broken: %s\n", what);
    abort();
}

static bool has(struct slice text, const char *any)
{
    for (size_t i = 0; i < text.len; i++)
        if (text.ptr[i] == 0 || strchr(any, text.ptr[i]))
            return true;
    return false;
}

// From the back: the host ends at the first '/', and its end is what DNS is asked for.
static void check_url(struct slice url)
{
    bool sns = cert_url_sns(url), paypal = cert_url_paypal(url);
    must(!sns || !paypal, "one URL of two providers");
    if (!sns && !paypal)
        return;
    must(!has(url, "@?#%\\ \r\n\t\"'<>[]"), "a character that readers differ about");
    must(memcmp(url.ptr, "https://", 8) == 0, "no TLS");
    const unsigned char *slash = memchr(url.ptr + 8, '/', url.len - 8);
    must(slash != NULL, "no path");
    AUTO_FREE char *host = slice_dup((struct slice){url.ptr + 8, (size_t)(slash - url.ptr) - 8});
    char *port = strchr(host, ':');
    must(!port || strcmp(port, ":443") == 0, "another port");
    if (port)
        *port = '\0';
    size_t len = strlen(host);
    const char *ends[] = {
            ".amazonaws.com", ".amazonaws.com.cn", "api.paypal.com", "api.sandbox.paypal.com"};
    bool ours = false;
    for (size_t i = sns ? 0 : 2; i < (sns ? 2u : 4u); i++) {
        size_t n = strlen(ends[i]);
        ours |= len >= n && strcmp(host + len - n, ends[i]) == 0 && (sns || len == n);
    }
    must(ours, "the host of somebody else");
    must(!memmem(url.ptr, url.len, "/../", 4) && !memmem(url.ptr + 8, url.len - 8, "//", 2),
            "a path that moves");
}

// It ends with what nobody can have signed: the fuzzer has no key.
static void check_token(struct slice text, int jwt)
{
    static char plaid[] = "plaid", hook[] = "hook";
    struct scheme row = {.name = "plaid",
            .kind = SCHEME_CODE,
            .header = "H",
            .body_hash = "h",
            .jwt = jwt,
            .encoding = ENCODING_HEX_LOWER,
            .time = {.past_s = 300, .future_s = 60}};
    struct secret held = {.value = SLICE("a-secret-the-fuzzer-does-not-know-5f0c7d1e")};
    struct source source = {.name = hook, .scheme = plaid, .secrets = &held, .n_secrets = 1};
    struct verify_header header = {SLICE("H"), text};
    struct verify_request request = {.headers = &header, .n_headers = 1, .now_s = NOW};
    struct verify_result got = jwt_verify(&row, &source, &request);
    must(got.reason != VERIFY_OK && got.secret_index < 0, "accepts a token that nobody signed");
    struct jwt_token token = {.signature_len = 0};
    if (jwt_token_read(text, &row, &token) == VERIFY_OK)
        must(jwt_token_read_claims(&row, &token) != VERIFY_OK ||
                        token.body_hash.len <= JWT_HASH_MAX,
                "claims");
    jwt_token_fini(&token);
}

static void check_keys(struct slice text)
{
    struct pubkey_set set = {.n = 0};
    if (pubkey_set_read(text, &set, NULL)) {
        must(set.n && set.n <= PUBKEY_SET_MAX, "a set of no keys, or of too many");
        for (size_t i = 0; i < set.n; i++)
            must(pubkey_usable(set.keys[i].key), "a key that is too weak");
        pubkey_set_fini(&set);
    }
    EVP_PKEY *key = pubkey_of_pem(text, NOW);
    must(!key || pubkey_usable(key), "a key that is too weak");
    pubkey_drop(&key);
}

static void check_confirm(struct slice body)
{
    AUTO_TEXT struct text url = {.max = 8192};
    sns_kind_of(body);
    if (!sns_confirm_url(body, &url))
        return;
    const char *end = strstr(text_cstr(&url), ".amazonaws.com");
    must(strncmp(text_cstr(&url), "https://sns.", 12) == 0 && end, "confirms elsewhere");
    must(strspn(text_cstr(&url) + 12, "abcdefghijklmnopqrstuvwxyz0123456789-") ==
                    (size_t)(end - text_cstr(&url)) - 12,
            "confirms in no region");
    must(!has(text_slice(&url), "@# \r\n\\"), "a parameter of the body's own");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    struct slice rest = {data + 1, size - 1};
    switch (data[0] % 6) {
    case 0:
        check_url(rest);
        break;
    case 1:
        check_keys(rest);
        break;
    case 2:
        check_confirm(rest);
        break;
    default:
        check_token(rest, data[0] % 6 - 2);
    }
    return 0;
}
