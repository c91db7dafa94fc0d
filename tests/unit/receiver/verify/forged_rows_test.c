// Forgeries of requests by schemes that say more than one header and a body. As in forged_test.c
// each is derived from an original that is accepted in the same breath.
#include "receiver/verify/mac.h"
#include "receiver/verify/scheme.h"

#include "tests/test.h"
#include <openssl/evp.h>
#include <stdio.h>

#define NOW 1795961472
#define URL "https://hooks.example.com/hooks/t"
#define FORM "B=b%20b&A=1&C="
#define JSON "{\"id\":\"evt_1\"}"

enum { HEADERS_MAX = 4 };

static char standard[] = "standardwebhooks", github_name[] = "github", shopify_name[] = "shopify",
            slack_name[] = "slack", twilio_name[] = "twilio", url_text[] = URL;
static char shared_text[] = "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=",
            private_text[] = "whsk_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=",
            public_text[] = "whpk_A6EHv/POEL4dcN0Y50vAmWfk1jCbpQ1fHdyGZBJVMbg=";

struct scene {
    const char *name;
    struct source source;
    struct secret secret;
    struct text lines;
    struct verify_header headers[HEADERS_MAX];
    struct verify_request request;
    size_t fewer; // so many bits are left out behind each, where a check takes long
    int n;
};

static void accept_original(const struct scene *scene)
{
    struct verify_result original = verify_request(&scene->source, &scene->request);
    if (original.reason != VERIFY_OK)
        fail_msg("%s: original refused: %s", scene->name, verify_reason_name(original.reason));
}

static void refuse(struct scene *scene, const struct verify_request *forged, const char *how)
{
    if (verify_request(&scene->source, forged).reason == VERIFY_OK)
        fail_msg("%s: accepted a forgery: %s", scene->name, how);
    scene->n++;
}

static void parse_lines(struct scene *scene)
{
    struct slice rest = text_slice(&scene->lines);
    while (rest.ptr && rest.len) {
        const unsigned char *colon = memmem(rest.ptr, rest.len, ": ", 2);
        const unsigned char *end = memmem(rest.ptr, rest.len, "\r\n", 2);
        assert_true(colon && end && scene->request.n_headers < HEADERS_MAX - 1);
        scene->headers[scene->request.n_headers++] = (struct verify_header){
                {rest.ptr, (size_t)(colon - rest.ptr)}, {colon + 2, (size_t)(end - colon) - 2}};
        rest = (struct slice){end + 2, rest.len - (size_t)(end + 2 - rest.ptr)};
    }
    scene->request.headers = scene->headers;
}

static void scene_init(struct scene *scene, char *scheme, char *secret)
{
    scene->secret.value = slice_of(secret);
    scene->source = (struct source){
            .name = scheme, .scheme = scheme, .secrets = &scene->secret, .n_secrets = 1};
    scene->request = (struct verify_request){.body = SLICE(JSON), .now_s = NOW};
    text_init(&scene->lines, 4096);
}

static void scene_signed(struct scene *scene, char *scheme, char *secret)
{
    struct err err = {.msg = ""};
    scene_init(scene, scheme, secret);
    if (!verify_sign(&scene->source, scene->request.body, SLICE("m-1"), NOW, &scene->lines, &err))
        fail_msg("%s: %s", scene->name, err.msg);
    parse_lines(scene);
}

static void forge_header_bits(struct scene *scene, size_t which)
{
    struct verify_header headers[HEADERS_MAX];
    struct verify_request forged = scene->request;
    struct slice value = scene->headers[which].value;
    AUTO_FREE unsigned char *copy = xmalloc(value.len);
    forged.headers = headers;
    memcpy(headers, scene->headers, sizeof headers);
    for (size_t i = 0; i < value.len; i++) {
        accept_original(scene);
        headers[which].value = (struct slice){copy, value.len};
        for (size_t bit = i % (scene->fewer + 1); bit < 8; bit += scene->fewer + 1) {
            memcpy(copy, value.ptr, value.len);
            copy[i] ^= (unsigned char)(1u << bit);
            refuse(scene, &forged, "a bit of a header");
        }
        headers[which].value = (struct slice){value.ptr, i};
        refuse(scene, &forged, "a header cut");
    }
}

static void forge_body_bits(struct scene *scene)
{
    struct verify_request forged = scene->request;
    struct slice body = scene->request.body;
    AUTO_FREE unsigned char *copy = xmalloc(body.len + 1);
    for (size_t i = 0; i < body.len; i++) {
        accept_original(scene);
        forged.body = (struct slice){copy, body.len};
        for (size_t bit = i % (scene->fewer + 1); bit < 8; bit += scene->fewer + 1) {
            memcpy(copy, body.ptr, body.len);
            copy[i] ^= (unsigned char)(1u << bit);
            refuse(scene, &forged, "a bit of the body");
        }
        forged.body = (struct slice){body.ptr, i};
        refuse(scene, &forged, "the body cut");
    }
    memcpy(copy, body.ptr, body.len);
    copy[body.len] = '\n';
    forged.body = (struct slice){copy, body.len + 1};
    refuse(scene, &forged, "a line end behind the body");
}

static void forge_missing_and_repeated(struct scene *scene, size_t n)
{
    struct verify_header headers[HEADERS_MAX];
    struct verify_request forged = scene->request;
    forged.headers = headers;
    accept_original(scene);
    for (size_t i = 0; i < n; i++) {
        memcpy(headers, scene->headers, sizeof headers);
        headers[i].value = SLICE("");
        refuse(scene, &forged, "a header emptied");
        headers[i].name = SLICE("X-Other");
        refuse(scene, &forged, "a header renamed");
        memcpy(headers, scene->headers, sizeof headers);
        headers[scene->request.n_headers] = headers[i];
        forged.n_headers = scene->request.n_headers + 1;
        refuse(scene, &forged, "a header twice");
        forged.n_headers = scene->request.n_headers;
    }
}

// What is signed of the headers: every one of the first n_signed.
static void forge_all(struct scene *scene, size_t n_signed)
{
    for (size_t i = 0; i < n_signed; i++)
        forge_header_bits(scene, i);
    forge_body_bits(scene);
    forge_missing_and_repeated(scene, n_signed);
}

static size_t find(const struct scene *scene, const char *name)
{
    for (size_t i = 0; i < scene->request.n_headers; i++)
        if (slice_eq(scene->headers[i].name, slice_of(name)))
            return i;
    fail_msg("no header %s", name);
    return 0;
}

// Puts the signature first, so that the unsigned ones stand behind it.
static void signature_first(struct scene *scene, const char *name)
{
    size_t at = find(scene, name);
    struct verify_header held = scene->headers[0];
    scene->headers[0] = scene->headers[at];
    scene->headers[at] = held;
}

static void refuses_every_forgery_of_standard_webhooks(void **state)
{
    (void)state;
    struct scene scene = {.name = "v1"};
    scene_signed(&scene, standard, shared_text);
    assert_int_equal(scene.request.n_headers, 3);
    forge_all(&scene, 3);
    assert_true(scene.n > 600);
    text_fini(&scene.lines);
}

static void refuses_every_forgery_of_a_signature_by_a_pair_of_keys(void **state)
{
    (void)state;
    struct scene scene = {.name = "v1a", .fewer = 1};
    scene_signed(&scene, standard, private_text);
    scene.secret.value = slice_of(public_text); // signed by the private half, proved by the public
    size_t at = find(&scene, "webhook-signature");
    assert_true(slice_starts(scene.headers[at].value, SLICE("v1a,")));
    forge_all(&scene, 3);
    assert_true(scene.n > 500);
    text_fini(&scene.lines);
}

static void refuses_every_forgery_of_github_shopify_and_slack(void **state)
{
    (void)state;
    const struct {
        char *scheme;
        const char *header;
        size_t n_signed;
    } cases[] = {{github_name, "X-Hub-Signature-256", 1},
            {shopify_name, "X-Shopify-Hmac-Sha256", 1}, {slack_name, "X-Slack-Signature", 2}};
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct scene scene = {.name = cases[i].scheme};
        scene_signed(&scene, cases[i].scheme, shared_text);
        signature_first(&scene, cases[i].header);
        forge_all(&scene, cases[i].n_signed);
        assert_true(scene.n > 200);
        text_fini(&scene.lines);
    }
}

// The signature that twilio makes of this text, as a header.
static void sign_twilio(struct scene *scene, const char *text)
{
    unsigned char digest[SCHEME_DIGEST_MAX];
    struct slice piece = slice_of(text);
    scene_init(scene, twilio_name, shared_text);
    scene->source.public_url = url_text;
    assert_true(mac_of(HMAC_SHA1, scene->secret.value, &piece, 1, digest));
    text_str(&scene->lines, "X-Twilio-Signature: ");
    encoding_encode(ENCODING_BASE64, (struct slice){digest, mac_size(HMAC_SHA1)}, &scene->lines);
    text_str(&scene->lines, "\r\n");
    parse_lines(scene);
}

static void refuses_forgeries_of_a_form_and_its_url(void **state)
{
    (void)state;
    struct scene scene = {.name = "twilio"};
    sign_twilio(&scene, URL "?a=b"
                            "A1"
                            "Bb b"
                            "C");
    scene.request.body = SLICE(FORM);
    scene.request.target = SLICE("/hooks/t?a=b");
    forge_header_bits(&scene, 0);
    static const char *const bodies[] = {"", "B=b%20b&A=1", "B=b%20b&A=1&C=&D",
            "B=b%20b&A=2&C=", "B=b%2520b&A=1&C=", "B=b%20b&A=1&C=%00", "A=1&C=&b=b+b",
            "B=b%20b;A=1;C=", "{\"A\":\"1\",\"B\":\"b b\",\"C\":\"\"}"};
    static const char *const targets[] = {"", "/hooks/t", "/hooks/t?", "/hooks/t?a=c",
            "/hooks/t?a=b&", "/hooks/t?a=%62", "/hooks/t?A=b", "/hooks/t?a=b#x",
            "/hooks/t?a=b&bodySHA256=", "?a=bA1"};
    struct verify_request forged = scene.request;
    accept_original(&scene);
    for (size_t i = 0; i < ARRAY_LEN(bodies); i++) {
        forged.body = slice_of(bodies[i]);
        refuse(&scene, &forged, bodies[i]);
    }
    forged.body = scene.request.body;
    for (size_t i = 0; i < ARRAY_LEN(targets); i++) {
        forged.target = slice_of(targets[i]);
        refuse(&scene, &forged, targets[i]);
    }
    forge_missing_and_repeated(&scene, 1);
    text_fini(&scene.lines);
}

// The host that a client names is never part of what is checked, only the policy's.
static void takes_the_host_of_the_url_from_the_policy_alone(void **state)
{
    (void)state;
    struct scene scene = {.name = "twilio host"};
    sign_twilio(&scene, URL "A1");
    scene.request.body = SLICE("A=1");
    scene.request.target = SLICE("/hooks/t");
    scene.headers[scene.request.n_headers++] =
            (struct verify_header){SLICE("host"), SLICE("evil.example")};
    scene.headers[scene.request.n_headers++] =
            (struct verify_header){SLICE("x-forwarded-proto"), SLICE("http")};
    assert_int_equal(verify_request(&scene.source, &scene.request).reason, VERIFY_OK);
    text_fini(&scene.lines);
    struct scene other = {.name = "twilio other host"};
    sign_twilio(&other, "https://evil.example/hooks/t"
                        "A1");
    other.request.body = SLICE("A=1");
    other.request.target = SLICE("/hooks/t");
    other.headers[other.request.n_headers++] =
            (struct verify_header){SLICE("host"), SLICE("evil.example")};
    assert_int_equal(verify_request(&other.source, &other.request).reason, VERIFY_NO_MATCH);
    text_fini(&other.lines);
}

static void says_which_event_only_of_what_is_authentic(void **state)
{
    (void)state;
    struct scene scene = {.name = "github"};
    scene_signed(&scene, github_name, shared_text);
    struct verify_result got = verify_request(&scene.source, &scene.request);
    assert_int_equal(got.reason, VERIFY_OK);
    assert_true(slice_eq(got.id, SLICE("m-1")));
    assert_int_equal(got.type.len, 0);
    struct verify_request twice = scene.request;
    struct verify_header headers[HEADERS_MAX];
    memcpy(headers, scene.headers, sizeof headers);
    headers[twice.n_headers++] = (struct verify_header){SLICE("x-github-delivery"), SLICE("m-2")};
    twice.headers = headers;
    got = verify_request(&scene.source, &twice);
    assert_int_equal(got.reason, VERIFY_OK);
    assert_int_equal(got.id.len, 0); // two ids are none
    twice.body = SLICE("{}");
    got = verify_request(&scene.source, &twice);
    assert_int_equal(got.reason, VERIFY_NO_MATCH);
    assert_null(got.id.ptr);
    text_fini(&scene.lines);
}

// What stands beside the payload in the form is not signed, and how its last line ends says
// nothing.
static void a_payload_of_braintree_counts_once(void **state)
{
    (void)state;
    static const char *const rest[] = {"%0A", "%0A&x=1", "", "&x=2"};
    static char name[] = "braintree";
    struct secret secret = {.value = SLICE("private")};
    struct source source = {.name = name, .scheme = name, .secrets = &secret, .n_secrets = 1};
    unsigned char key[20], digest[SCHEME_DIGEST_MAX], once[32];
    size_t len = 0;
    struct slice payload = SLICE("PG4vPg==\n");
    AUTO_TEXT struct text hex = {.max = 64};
    assert_true(EVP_Q_digest(NULL, "SHA1", NULL, "private", 7, key, &len));
    assert_true(mac_of(HMAC_SHA1, (struct slice){key, len}, &payload, 1, digest));
    encoding_encode(ENCODING_HEX_LOWER, (struct slice){digest, 20}, &hex);
    for (size_t i = 0; i < ARRAY_LEN(rest); i++) {
        AUTO_TEXT struct text body = {.max = 256};
        text_fmt(&body, "bt_signature=p%%7C%s&bt_payload=PG4vPg%%3D%%3D%s", text_cstr(&hex),
                rest[i]);
        struct verify_request request = {
                .method = SLICE("POST"), .body = text_slice(&body), .now_s = NOW};
        struct verify_result result = verify_request(&source, &request);
        assert_row(result.reason == VERIFY_OK && result.has_once, rest[i]);
        assert_row(i == 0 || memcmp(once, result.once, sizeof once) == 0, rest[i]);
        memcpy(once, result.once, sizeof once);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(a_payload_of_braintree_counts_once),
            cmocka_unit_test(refuses_every_forgery_of_standard_webhooks),
            cmocka_unit_test(refuses_every_forgery_of_a_signature_by_a_pair_of_keys),
            cmocka_unit_test(refuses_every_forgery_of_github_shopify_and_slack),
            cmocka_unit_test(refuses_forgeries_of_a_form_and_its_url),
            cmocka_unit_test(takes_the_host_of_the_url_from_the_policy_alone),
            cmocka_unit_test(says_which_event_only_of_what_is_authentic),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
