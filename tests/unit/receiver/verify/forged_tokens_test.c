// Forgeries of the schemes that verify with published keys: each is derived from an original that
// is accepted in the same breath.
#include "tests/unit/receiver/verify/keyed_kit.h"

#include "common/keys.h"
#include "receiver/verify/mac.h"
#include <openssl/evp.h>

#define JWKS_URL "https://keys.example.com/jwks"
#define SENT_AT "2026-11-29T14:11:12Z" // KIT_NOW

static EVP_PKEY *rsa, *p256, *other_p256;
static char jwks[] = JWKS_URL;

static int make_keys(void **state)
{
    (void)state;
    rsa = kit_rsa(0);
    p256 = kit_p256();
    other_p256 = kit_p256();
    return rsa && p256 && other_p256 ? 0 : -1;
}

static int drop_keys(void **state)
{
    (void)state;
    pubkey_drop(&rsa);
    pubkey_drop(&p256);
    pubkey_drop(&other_p256);
    return 0;
}

// A token of these parts; signed by key, or by the text of a secret with HMAC, or not at all.
static void make_token(const char *header, const char *claims, EVP_PKEY *key, struct text *out)
{
    text_reset(out);
    kit_base64url(slice_of(header), out);
    text_char(out, '.');
    kit_base64url(slice_of(claims), out);
    AUTO_TEXT struct text signed_part = {.max = 4096};
    text_add(&signed_part, text_slice(out));
    text_char(out, '.');
    if (key)
        kit_sign(key, "SHA256", text_slice(&signed_part), out);
}

#define ES256 "{\"alg\":\"ES256\",\"kid\":\"k1\",\"typ\":\"JWT\"}"
#define PLAID_BODY "{\n  \"item_id\": \"it1\",\n  \"webhook_type\": \"T\"\n}"

static void claims_of(const char *body, const char *more, struct text *out)
{
    unsigned char digest[32];
    sha256_of(slice_of(body), digest);
    text_reset(out);
    text_str(out, "{\"request_body_sha256\":\"");
    for (size_t i = 0; i < sizeof digest; i++)
        text_fmt(out, "%02x", digest[i]);
    text_fmt(out, "\",%s}", more);
}

static void plaid_init(struct scene *scene, struct text *claims)
{
    scene_init(scene, "plaid", KEY_JWKS, p256);
    scene->ring.rows[0].url = JWKS_URL;
    scene->source.jwks = jwks;
    scene->names[0] = "Plaid-Verification";
    scene->n_headers = 1;
    set_text(&scene->body, PLAID_BODY);
    claims_of(PLAID_BODY, "\"iat\":1795961472", claims);
    make_token(ES256, text_cstr(claims), p256, &scene->values[0]);
    accept_original(scene);
}

static void refuse_token(
        struct scene *scene, const char *header, const char *claims, EVP_PKEY *key, const char *how)
{
    AUTO_TEXT struct text made = {.max = 8192};
    make_token(header, claims, key, &made);
    refuse_text(scene, &scene->values[0], text_cstr(&made), how);
}

static void refuses_forged_tokens(void **state)
{
    (void)state;
    struct scene scene;
    AUTO_TEXT struct text claims = {.max = 4096}, made = {.max = 4096};
    plaid_init(&scene, &claims);
    refuse_flips(&scene, &scene.values[0], FORGED_MIN, "a bit of the token");
    refuse_flips(&scene, &scene.body, 100, "a bit of the body");
    static const char *const headers[] = {"{\"alg\":\"none\",\"kid\":\"k1\"}",
            "{\"alg\":\"None\",\"kid\":\"k1\"}", "{\"alg\":\"HS256\",\"kid\":\"k1\"}",
            "{\"alg\":\"RS256\",\"kid\":\"k1\"}", "{\"alg\":\"ES384\",\"kid\":\"k1\"}",
            "{\"alg\":\"es256\",\"kid\":\"k1\"}", "{\"kid\":\"k1\"}",
            "{\"alg\":[\"ES256\"],\"kid\":\"k1\"}",
            "{\"alg\":\"ES256\",\"alg\":\"none\",\"kid\":\"k1\"}", "{\"alg\":\"ES256\"}",
            "{\"alg\":\"ES256\",\"kid\":\"k2\"}", "{\"alg\":\"ES256\",\"kid\":\"../k1\"}",
            "{\"alg\":\"ES256\",\"kid\":1}",
            "{\"alg\":\"ES256\",\"kid\":\"k1\",\"crit\":[\"exp\"]}",
            "{\"alg\":\"ES256\",\"kid\":\"k1\",\"b64\":false}", "[]", "", "{"};
    for (size_t i = 0; i < ARRAY_LEN(headers); i++)
        refuse_token(&scene, headers[i], text_cstr(&claims), p256, headers[i]);
    refuse_token(
            &scene, "{\"alg\":\"none\",\"kid\":\"k1\"}", text_cstr(&claims), NULL, "no signature");
    refuse_token(&scene, ES256, text_cstr(&claims), NULL, "an empty signature");
    refuse_token(&scene, ES256, text_cstr(&claims), other_p256, "another key");
    refuse_token(&scene, ES256, text_cstr(&claims), rsa, "a key of another kind");
    static const char *const more[] = {"\"iat\":1795961171", "\"iat\":1795961533",
            "\"iat\":\"1795961472\"", "\"iat\":1795961472,\"iat\":1795961472", "\"iat\":-1",
            "\"iat\":1e99", "\"exp\":1795961999", "\"iat\":1795961472,\"exp\":1795961472",
            "\"iat\":1795961472,\"nbf\":1795961533", "\"x\":1"};
    for (size_t i = 0; i < ARRAY_LEN(more); i++) {
        claims_of(PLAID_BODY, more[i], &made);
        refuse_token(&scene, ES256, text_cstr(&made), p256, more[i]);
    }
    claims_of("another body", "\"iat\":1795961472", &made);
    refuse_token(&scene, ES256, text_cstr(&made), p256, "the digest of another body");
    refuse_token(&scene, ES256, "{\"iat\":1795961472}", p256, "no digest");
    refuse_token(&scene, ES256, "{\"iat\":1795961472,\"request_body_sha256\":\"\"}", p256,
            "an empty digest");
    AUTO_TEXT struct text longer = {.max = 8192};
    text_fmt(&longer, "%s.x", text_cstr(&scene.values[0]));
    refuse_text(&scene, &scene.values[0], text_cstr(&longer), "a fourth part");
    text_reset(&longer);
    text_fmt(&longer, "%s=", text_cstr(&scene.values[0]));
    refuse_text(&scene, &scene.values[0], text_cstr(&longer), "padding");
    assert_in_range(scene.n, FORGED_MIN, 1000);
    scene_fini(&scene);
}

static void refuses_forged_requests_of_shipengine(void **state)
{
    (void)state;
    struct scene scene;
    scene_init(&scene, "shipengine", KEY_JWKS, rsa);
    scene.ring.rows[0].url = JWKS_URL;
    scene.source.jwks = jwks;
    static const char *const names[] = {"x-shipengine-rsa-sha256-signature",
            "x-shipengine-rsa-sha256-key-id", "x-shipengine-timestamp"};
    memcpy(scene.names, names, sizeof names);
    scene.n_headers = ARRAY_LEN(names);
    set_text(&scene.body, "{\"resource_url\":\"https://api.shipengine.com/v1/"
                          "x\",\"resource_type\":\"API_TRACK\"}");
    AUTO_TEXT struct text made = {.max = 4096};
    text_fmt(&made, SENT_AT ".%s", text_cstr(&scene.body));
    kit_sign(rsa, "SHA256", text_slice(&made), &scene.values[0]);
    set_text(&scene.values[1], "k1");
    set_text(&scene.values[2], SENT_AT);
    accept_original(&scene);
    refuse_flips(&scene, &scene.body, 200, "a bit of the body");
    refuse_flips(&scene, &scene.values[0], 150, "a bit of the signature");
    refuse_flips(&scene, &scene.values[1], 16, "a bit of the key's name");
    refuse_flips(&scene, &scene.values[2], 160, "a bit of the time");
    assert_int_equal(kit_run(&scene, KIT_NOW + 301).reason, VERIFY_TOO_OLD);
    assert_int_equal(kit_run(&scene, KIT_NOW - 301).reason, VERIFY_TOO_NEW);
    assert_in_range(scene.n, FORGED_MIN, 1000);
    scene_fini(&scene);
}

// By HMAC with a shared secret.
static void make_shared_token(
        const char *header, const char *claims, struct slice secret, struct text *out)
{
    unsigned char digest[SCHEME_DIGEST_MAX];
    make_token(header, claims, NULL, out);
    struct slice signed_part = {(unsigned char *)out->ptr, out->len - 1};
    assert_true(mac_of(HMAC_SHA256, secret, &signed_part, 1, digest));
    kit_base64url((struct slice){digest, 32}, out);
}

static void refuse_shared(struct scene *scene, const char *header, const char *claims,
        struct slice secret, const char *how)
{
    AUTO_TEXT struct text made = {.max = 8192};
    make_shared_token(header, claims, secret, &made);
    refuse_text(scene, &scene->values[0], text_cstr(&made), how);
}

#define HS256 "{\"alg\":\"HS256\",\"typ\":\"JWT\"}"

static void refuses_forged_tokens_of_the_policys_own_rule(void **state)
{
    (void)state;
    static char hook[] = "X-Hook", claim[] = "request_body_sha256", hex[] = "hex";
    struct token_rule rule = {hook, JWT_HS256, claim, hex, 300};
    struct slice secret = SLICE("a-shared-secret-of-some-length");
    AUTO_TEXT struct text claims = {.max = 4096}, pem = {.max = 4096}, bearer = {.max = 8192};
    struct scene scene;
    scene_init(&scene, "jwt", KEY_JWKS, p256);
    scene.source.token = &rule;
    scene.source.secrets = &scene.secret;
    scene.source.n_secrets = 1;
    scene.secret.value = secret;
    scene.names[0] = hook;
    scene.n_headers = 1;
    set_text(&scene.body, PLAID_BODY);
    claims_of(PLAID_BODY, "\"exp\":1795961473", &claims); // exp alone is enough
    make_shared_token(HS256, text_cstr(&claims), secret, &scene.values[0]);
    accept_original(&scene);
    text_fmt(&bearer, "Bearer %s", text_cstr(&scene.values[0]));
    set_text(&scene.values[0], text_cstr(&bearer));
    accept_original(&scene);
    refuse_flips(&scene, &scene.body, 100, "a bit of the body");
    set_text(&scene.values[0], text_cstr(&bearer) + strlen("Bearer "));
    refuse_flips(&scene, &scene.values[0], FORGED_MIN, "a bit of the token");
    refuse_shared(&scene, HS256, text_cstr(&claims), SLICE("another-secret-of-some-length"),
            "another secret");
    refuse_shared(&scene, "{\"alg\":\"none\"}", text_cstr(&claims), secret, "no algorithm");
    refuse_shared(&scene, "{\"alg\":\"HS512\"}", text_cstr(&claims), secret, "another algorithm");
    refuse_token(&scene, ES256, text_cstr(&claims), p256, "a key in place of a secret");
    claims_of(PLAID_BODY, "\"x\":1", &claims);
    refuse_shared(&scene, HS256, text_cstr(&claims), secret, "no time at all");
    kit_pem(p256, &pem);
    scene.secret.value = text_slice(&pem);
    claims_of(PLAID_BODY, "\"iat\":1795961472", &claims);
    make_shared_token(HS256, text_cstr(&claims), text_slice(&pem), &scene.values[0]);
    refuse(&scene, "a public key as if it were a secret");
    rule.algorithm = JWT_ES256;
    refuse(&scene, "HS256 with the public key of ES256");
    make_token(ES256, text_cstr(&claims), p256, &scene.values[0]);
    accept_original(&scene);
    rule.algorithm = JWT_RS256;
    refuse(&scene, "ES256 where RS256 is demanded");
    assert_in_range(scene.n, FORGED_MIN, 1000);
    scene_fini(&scene);
}

static void a_key_that_can_t_be_had_is_no_refusal(void **state)
{
    (void)state;
    static const struct {
        enum key_answer answer;
        enum verify_reason want;
    } rows[] = {{KEY_PENDING, VERIFY_KEY_PENDING}, {KEY_UNAVAILABLE, VERIFY_KEY_UNAVAILABLE},
            {KEY_REFUSED, VERIFY_BAD_CERT}, {KEY_UNKNOWN, VERIFY_UNKNOWN_KEY}};
    struct scene scene;
    AUTO_TEXT struct text claims = {.max = 4096};
    plaid_init(&scene, &claims);
    scene.ring.rows[0].key = NULL;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        scene.ring.rows[0].answer = rows[i].answer;
        assert_int_equal(kit_run(&scene, KIT_NOW).reason, rows[i].want);
    }
    scene_fini(&scene);
}

static void keys_in_secrets_are_used_alone_and_only_while_they_live(void **state)
{
    (void)state;
    struct scene scene;
    AUTO_TEXT struct text claims = {.max = 4096}, pem = {.max = 4096}, other = {.max = 4096};
    plaid_init(&scene, &claims);
    kit_pem(p256, &pem);
    kit_pem(other_p256, &other);
    size_t asked = scene.ring.asked;
    scene.source.secrets = &scene.secret;
    scene.source.n_secrets = 1;
    scene.secret = (struct secret){.value = text_slice(&pem)};
    assert_int_equal(kit_run(&scene, KIT_NOW).secret_index, 0);
    scene.secret.value = text_slice(&other);
    assert_int_equal(kit_run(&scene, KIT_NOW).reason, VERIFY_NO_MATCH);
    scene.secret = (struct secret){.value = text_slice(&pem), .until = KIT_NOW};
    assert_int_equal(kit_run(&scene, KIT_NOW).reason, VERIFY_NO_SECRET);
    assert_int_equal(scene.ring.asked, asked); // nothing was fetched
    scene_fini(&scene);
}

// The next change of an item may be told in the same bytes, so the token is what comes once.
static void a_token_of_plaid_counts_once(void **state)
{
    (void)state;
    struct scene scene;
    AUTO_TEXT struct text claims = {.max = 4096}, next = {.max = 4096};
    unsigned char want[32];
    plaid_init(&scene, &claims);
    struct verify_result first = kit_run(&scene, KIT_NOW);
    const char *token = text_cstr(&scene.values[0]);
    sha256_of((struct slice){(const unsigned char *)token, (size_t)(strrchr(token, '.') - token)},
            want);
    assert_true(first.has_once);
    assert_memory_equal(first.once, want, sizeof want);
    claims_of(PLAID_BODY, "\"iat\":1795961473", &next);
    make_token(ES256, text_cstr(&next), p256, &scene.values[0]);
    struct verify_result second = kit_run(&scene, KIT_NOW);
    assert_true(second.has_once);
    assert_memory_not_equal(second.once, want, sizeof want);
    assert_false(kit_run(&scene, KIT_NOW + 400).has_once);
    scene_fini(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(refuses_forged_tokens),
            cmocka_unit_test(refuses_forged_requests_of_shipengine),
            cmocka_unit_test(refuses_forged_tokens_of_the_policys_own_rule),
            cmocka_unit_test(a_key_that_can_t_be_had_is_no_refusal),
            cmocka_unit_test(a_token_of_plaid_counts_once),
            cmocka_unit_test(keys_in_secrets_are_used_alone_and_only_while_they_live),
    };
    return cmocka_run_group_tests(tests, make_keys, drop_keys);
}
