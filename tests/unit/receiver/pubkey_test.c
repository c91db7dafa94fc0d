#include "receiver/pubkey.h"

#include "common/text.h"

#include "tests/test.h"
#include <openssl/evp.h>

// RFC 7515 appendix A.3 (P-256) and RFC 7517 appendix A.1 (RSA of 2048 bits).
#define EC_XY                                                                                      \
    "\"x\":\"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU\","                                       \
    "\"y\":\"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0\""
#define EC "\"kty\":\"EC\",\"crv\":\"P-256\"," EC_XY
#define RSA_N                                                                                      \
    "0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx4cbbfAAtVT86zwu1RK7aPFFxuhDR1L6tSoc_"      \
    "BJECPe"                                                                                       \
    "bWKRXjBZCiFV4n3oknjhMstn64tZ_2W-5JsGY4Hc5n9yBXArwl93lqt7_RN5w6Cf0h4QyQ5v-65YGjQR0_"           \
    "FDW2QvzqY36"                                                                                  \
    "8QQMicAtaSqzs8KJZgnYb9c7d0zgdAZHzu6qMQvRL5hajrn1n91CbOpbISD08qNLyrdkt-"                       \
    "bFTWhAI4vMQFh6WeZu0fM4l"                                                                      \
    "Fd2NcRwr3XPksINHaQ-G_xBniIqbw0Ls1jF44-csFCur-kEgU8awapJzKnqDKgw"
#define RSA_KEY "\"kty\":\"RSA\",\"n\":\"" RSA_N "\",\"e\":\"AQAB\""

static void reads_key_sets_and_single_keys(void **state)
{
    (void)state;
    static const struct {
        const char *json;
        size_t n;
        const char *kid;
    } rows[] = {{"{" EC ",\"kid\":\"a\"}", 1, "a"}, {"{" EC "}", 1, ""},
            {"{" RSA_KEY ",\"kid\":\"b\",\"alg\":\"RS256\",\"use\":\"sig\"}", 1, "b"},
            {"{\"keys\":[{" EC ",\"kid\":\"a\"},{" RSA_KEY ",\"kid\":\"b\"}]}", 2, "b"},
            {"{\"keys\":[{\"kty\":\"OKP\",\"crv\":\"Ed25519\",\"x\":\"AA\"},{" EC
             ",\"kid\":\"\\u0061\"}]}",
                    1, "a"},
            {"{\"keys\":[{" RSA_KEY ",\"use\":\"enc\",\"kid\":\"e\"},{" EC ",\"kid\":\"a\"}]}", 1,
                    "a"}};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct pubkey_set set = {.n = 0};
        struct err err = {0};
        assert_row(pubkey_set_read(slice_of(rows[i].json), &set, &err), rows[i].json);
        assert_row(set.n == rows[i].n, rows[i].json);
        assert_row(pubkey_set_find(&set, slice_of(rows[i].kid)) != NULL, rows[i].json);
        assert_row(!pubkey_set_find(&set, SLICE("other")), rows[i].json);
        pubkey_set_fini(&set);
    }
}

static void passes_over_what_is_no_public_key_to_verify_with(void **state)
{
    (void)state;
    static const char *const rows[] = {"", "[]", "{}", "{\"keys\":[]}", "{\"keys\":{}}",
            "{\"keys\":[],\"keys\":[{" EC "}]}", "{\"kty\":\"oct\",\"k\":\"AAAA\"}",
            "{" EC ",\"d\":\"jpsQnnGQmL-YBIffH1136cspYG6-0iY7X1fCE9-E9LI\"}",
            "{\"kty\":\"EC\",\"crv\":\"P-384\"," EC_XY "}", "{\"kty\":\"EC\"," EC_XY "}",
            "{" EC ",\"kty\":\"EC\"}", "{" EC ",\"use\":\"enc\"}", "{" EC ",\"kid\":1}",
            // The last digit of y is another: no point of the curve.
            "{\"kty\":\"EC\",\"crv\":\"P-256\",\"x\":"
            "\"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU\","
            "\"y\":\"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a8\"}",
            "{\"kty\":\"EC\",\"crv\":\"P-256\",\"x\":\"\",\"y\":\"\"}",
            "{\"kty\":\"RSA\",\"n\":\"" RSA_N "\",\"e\":\"AQ\"}",
            "{\"kty\":\"RSA\",\"n\":\"" RSA_N "\",\"e\":\"AQAA\"}",
            "{\"kty\":\"RSA\",\"n\":\"" RSA_N "=\",\"e\":\"AQAB\"}",
            "{\"kty\":\"RSA\",\"n\":"
            "\"0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx4cbbfAAtVT86"
            "zwu1RK7aPFFxuhDR1L6tSoc_BJECPebWKRXjBZCiFV4n3oknjhMstn64tZ_2W-5Js\",\"e\":\"AQAB\"}"};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct pubkey_set set = {.n = 0};
        assert_row(!pubkey_set_read(slice_of(rows[i]), &set, NULL), rows[i]);
    }
}

static void takes_no_more_keys_than_there_is_room_for(void **state)
{
    (void)state;
    AUTO_TEXT struct text json = {.max = 65536};
    text_str(&json, "{\"keys\":[");
    for (int i = 0; i < PUBKEY_SET_MAX + 5; i++)
        text_fmt(&json, "%s{" EC ",\"kid\":\"k%d\"}", i ? "," : "", i);
    text_str(&json, "]}");
    struct pubkey_set set = {.n = 0};
    assert_true(pubkey_set_read(text_slice(&json), &set, NULL));
    assert_int_equal(set.n, PUBKEY_SET_MAX);
    pubkey_set_fini(&set);
}

static void reads_pem_and_nothing_else(void **state)
{
    (void)state;
    // The key of RFC 7515 A.3 as `openssl pkey -pubin` writes it.
    static const char pem[] = "-----BEGIN PUBLIC KEY-----\n"
                              "MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEf83OJ3D2xF1Bg8vub9tLe1gHMzV7\n"
                              "6e8Tus9uPHvRVEXH8UTNG72bfocs3+257rn0s2ldbqkLJK2KRiMohYjlrQ==\n"
                              "-----END PUBLIC KEY-----\n";
    AUTO_PUBKEY EVP_PKEY *key = pubkey_of_pem(slice_of(pem), 0);
    assert_non_null(key);
    assert_true(pubkey_is_pem(slice_of(pem)));
    static const char *const rows[] = {"", "-----BEGIN PUBLIC KEY-----\n", "whsec_abc", "{" EC "}",
            "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
            // On P-384.
            "-----BEGIN PUBLIC KEY-----\nMHYwEAYHKoZIzj0CAQYFK4EEACIDYgAE\n-----END PUBLIC "
            "KEY-----\n"};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        assert_row(!pubkey_of_pem(slice_of(rows[i]), 0), rows[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(reads_key_sets_and_single_keys),
            cmocka_unit_test(passes_over_what_is_no_public_key_to_verify_with),
            cmocka_unit_test(takes_no_more_keys_than_there_is_room_for),
            cmocka_unit_test(reads_pem_and_nothing_else),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
