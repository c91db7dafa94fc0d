#include "common/base64.h"
#include "common/json/scan.h"
#include "dispatcher/send/jwt.h"
#include "dispatcher/send/push.h"
#include "tests/test.h"

#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/pem.h>

static char *make_pem(bool ec)
{
    EVP_PKEY *pair = ec ? EVP_EC_gen("P-256") : EVP_RSA_gen(1024);
    BIO *bio = BIO_new(BIO_s_mem());
    char *bytes = NULL;
    assert_true(PEM_write_bio_PrivateKey(bio, pair, NULL, NULL, 0, NULL, NULL) == 1);
    long len = BIO_get_mem_data(bio, &bytes);
    char *pem = slice_dup((struct slice){(const unsigned char *)bytes, (size_t)len});
    BIO_free(bio);
    EVP_PKEY_free(pair);
    return pem;
}

// The parts of a JWT, decoded; the signature stays raw.
struct token {
    char header[256], claims[1024];
    unsigned char signature[512];
    size_t signature_len, signed_len;
};

static struct token take_apart(const char *text)
{
    struct token token = {0};
    const char *dot = strchr(text, '.'), *second = strchr(dot + 1, '.');
    size_t len = 0;
    token.signed_len = (size_t)(second - text);
    struct slice parts[] = {{(const unsigned char *)text, (size_t)(dot - text)},
            {(const unsigned char *)dot + 1, (size_t)(second - dot - 1)}, slice_of(second + 1)};
    assert_true(base64url_decode(parts[0], (unsigned char *)token.header, 255, &len));
    assert_true(base64url_decode(parts[1], (unsigned char *)token.claims, 1023, &len));
    assert_true(base64url_decode(
            parts[2], token.signature, sizeof token.signature, &token.signature_len));
    return token;
}

static bool verifies(const char *pem, const struct token *token, const char *text)
{
    BIO *bio = BIO_new_mem_buf(pem, -1);
    EVP_PKEY *pair = PEM_read_bio_PrivateKey(bio, NULL, NULL, NULL);
    EVP_MD_CTX *ctx = EVP_MD_CTX_new();
    unsigned char *der = NULL;
    const unsigned char *signature = token->signature;
    size_t len = token->signature_len;
    if (EVP_PKEY_get_base_id(pair) == EVP_PKEY_EC) {
        ECDSA_SIG *sig = ECDSA_SIG_new();
        assert_int_equal(len, 64);
        ECDSA_SIG_set0(sig, BN_bin2bn(signature, 32, NULL), BN_bin2bn(signature + 32, 32, NULL));
        len = (size_t)i2d_ECDSA_SIG(sig, &der);
        signature = der;
        ECDSA_SIG_free(sig);
    }
    bool ok = EVP_DigestVerifyInit(ctx, NULL, EVP_sha256(), NULL, pair) == 1 &&
              EVP_DigestVerify(
                      ctx, signature, len, (const unsigned char *)text, token->signed_len) == 1;
    OPENSSL_free(der);
    EVP_MD_CTX_free(ctx);
    EVP_PKEY_free(pair);
    BIO_free(bio);
    return ok;
}

static void an_apns_token_is_es256_with_both_halves(void **state)
{
    (void)state;
    AUTO_FREE char *pem = make_pem(true);
    for (int i = 0; i < 8; i++) {
        AUTO_TEXT struct text out = {0};
        struct err err = {0};
        text_init(&out, 2000);
        assert_true(apns_token(slice_of(pem), "ABCDE12345", "KEY1234567", 1790000000, &out, &err));
        struct token token = take_apart(out.ptr);
        assert_string_equal(token.header, "{\"alg\":\"ES256\",\"kid\":\"KEY1234567\"}");
        assert_string_equal(token.claims, "{\"iss\":\"ABCDE12345\",\"iat\":1790000000}");
        assert_true(verifies(pem, &token, out.ptr));
    }
}

// DER is shorter where a half begins with zeros, one signature of 128, and longer where its first
// bit is set.
static void both_halves_are_as_long_whatever_their_numbers(void **state)
{
    (void)state;
    static const struct {
        const char *name, *r, *s;
        bool fits;
    } rows[] = {{"small", "01", "02", true},
            {"a first bit", "80ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
                    "ff00000000000000000000000000000000000000000000000000000000000001", true},
            {"r begins with a zero",
                    "0000ffffffffffffffffffffffffffffffffffffffffffffffffffffffffff1",
                    "7f00000000000000000000000000000000000000000000000000000000000001", true},
            {"r is too long", "0100000000000000000000000000000000000000000000000000000000000000000",
                    "02", false},
            {"s is too long", "02",
                    "0100000000000000000000000000000000000000000000000000000000000000000", false}};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        unsigned char bytes[128], want[64], *at = bytes;
        BIGNUM *r = NULL, *s = NULL;
        ECDSA_SIG *sig = ECDSA_SIG_new();
        assert_true(BN_hex2bn(&r, rows[i].r) && BN_hex2bn(&s, rows[i].s));
        BN_bn2binpad(r, want, 32);
        BN_bn2binpad(s, want + 32, 32);
        ECDSA_SIG_set0(sig, r, s);
        size_t len = (size_t)i2d_ECDSA_SIG(sig, &at);
        ECDSA_SIG_free(sig);
        assert_row(jwt_halves(bytes, &len) == rows[i].fits, rows[i].name);
        assert_row(!rows[i].fits || (len == 64 && memcmp(bytes, want, 64) == 0), rows[i].name);
    }
    unsigned char no_der[64] = "no DER";
    size_t len = sizeof no_der;
    assert_false(jwt_halves(no_der, &len));
}

static void a_key_of_another_kind_is_no_key(void **state)
{
    (void)state;
    AUTO_FREE char *rsa = make_pem(false);
    AUTO_FREE char *ec = make_pem(true);
    AUTO_TEXT struct text out = {0};
    struct err err = {0};
    text_init(&out, 4000);
    assert_false(apns_token(slice_of(rsa), "T", "K", 1, &out, &err));
    assert_int_equal(err.kind, ERR_FATAL);
    assert_false(apns_token(slice_of("no key"), "T", "K", 1, &out, &err));
    assert_false(apns_token((struct slice){0}, "T", "K", 1, &out, &err));
    assert_false(jwt_sign(JWS_RS256, slice_of(ec), "{}", "{}", &out, &err));
    assert_int_equal(out.len, 0);
}

static void fcm_asks_for_a_token_with_a_signed_assertion(void **state)
{
    (void)state;
    AUTO_FREE char *pem = make_pem(false);
    AUTO_TEXT struct text account = {0};
    AUTO_HTTP_REQUEST struct http_request request = {0};
    struct err err = {0};
    text_init(&account, 8000);
    assert_true(text_str(&account, "{\"client_email\":\"a@b.iam\",\"private_key\":") &&
                json_quote(&account, slice_of(pem)) && text_char(&account, '}'));
    assert_true(fcm_token_build(text_slice(&account), 1790000000, &request, &err));
    assert_string_equal(request.url, "https://oauth2.googleapis.com/token");
    const char *assertion = strstr(request.body.ptr, "&assertion=");
    assert_non_null(assertion);
    struct token token = take_apart(assertion + strlen("&assertion="));
    assert_string_equal(token.claims,
            "{\"iss\":\"a@b.iam\",\"scope\":\"https://www.googleapis.com/auth/firebase.messaging\","
            "\"aud\":\"https://oauth2.googleapis.com/token\",\"iat\":1790000000,"
            "\"exp\":1790003600}");
    assert_true(verifies(pem, &token, assertion + strlen("&assertion=")));
    assert_false(fcm_token_build(SLICE("{\"client_email\":\"x\"}"), 1, &request, &err));
    assert_string_equal(err.msg, "the provider's service account has no private_key");
}

static void reads_a_token_and_its_life(void **state)
{
    (void)state;
    AUTO_TEXT struct text token = {0};
    struct err err = {0};
    int64_t life_s = 0;
    text_init(&token, 2000);
    struct http_reply reply = {.end = HTTP_REPLIED,
            .status = 200,
            .body = SLICE("{\"access_token\":\"ya29.x\",\"expires_in\":3599,"
                          "\"token_type\":\"Bearer\"}")};
    assert_true(fcm_token_read(&reply, &token, &life_s, &err));
    assert_string_equal(text_cstr(&token), "ya29.x");
    assert_int_equal(life_s, 3599);
    reply.status = 400;
    assert_false(fcm_token_read(&reply, &token, &life_s, &err));
    assert_int_equal(err.kind, ERR_TEMP);
    reply = (struct http_reply){.end = HTTP_REPLIED, .status = 200, .body = SLICE("{}")};
    assert_false(fcm_token_read(&reply, &token, &life_s, &err));
    static const char *const lives[] = {
            "-1", "0", "3599.5", "1e12", "null", "99999999999999999999"};
    for (size_t i = 0; i < ARRAY_LEN(lives); i++) {
        char body[100];
        snprintf(body, sizeof body, "{\"access_token\":\"y\",\"expires_in\":%s}", lives[i]);
        reply.body = slice_of(body);
        if (fcm_token_read(&reply, &token, &life_s, &err))
            fail_msg("expires_in %s was read as %lld", lives[i], (long long)life_s);
    }
}

static void a_webpush_token_is_for_the_origin_alone(void **state)
{
    (void)state;
    static const char address[] =
            "{\"endpoint\":\"https://push.example.net:8443/p/1?x=y\",\"keys\":{\"p256dh\":\"BCVxsr7"
            "N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4\","
            "\"auth\":\"BTBZMqHH6r4Tts7J_aSIgg==\"}}";
    AUTO_FREE char *pem = make_pem(true);
    AUTO_TEXT struct text out = {0};
    struct err err = {0};
    text_init(&out, 4000);
    assert_true(webpush_token(
            slice_of(pem), "mailto:ops@example.net", address, 1790000000, &out, &err));
    assert_memory_equal(out.ptr, "vapid t=", 8);
    char *end = strstr(out.ptr, ", k=");
    assert_non_null(end);
    assert_int_equal(strlen(end + 4), 87);
    *end = '\0';
    struct token token = take_apart(out.ptr + 8);
    assert_string_equal(token.claims,
            "{\"aud\":\"https://push.example.net:8443\",\"exp\":1790043200,"
            "\"sub\":\"mailto:ops@example.net\"}");
    assert_true(verifies(pem, &token, out.ptr + 8));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(an_apns_token_is_es256_with_both_halves),
            cmocka_unit_test(both_halves_are_as_long_whatever_their_numbers),
            cmocka_unit_test(a_key_of_another_kind_is_no_key),
            cmocka_unit_test(fcm_asks_for_a_token_with_a_signed_assertion),
            cmocka_unit_test(reads_a_token_and_its_life),
            cmocka_unit_test(a_webpush_token_is_for_the_origin_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
