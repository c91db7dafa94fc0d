// Every forged request is derived from an original that is accepted in the same breath: what is
// refused is refused for the forgery alone.
#include "receiver/verify/scheme.h"

#include "tests/test.h"
#include <ctype.h>

#define NOW 1795961472
#define BODY "{\"id\":\"evt_1\",\"type\":\"payment_intent.succeeded\"}"

static char secret_text[] = "whsec_forged_0123456789";
static char other_text[] = "whsec_another_0123456789";
static char stripe_name[] = "stripe", custom_name[] = "custom", app_name[] = "app";

// A source, one accepted request, and which header is forged.
struct scene {
    const char *name;
    struct source source;
    struct secret secret;
    struct custom_verify custom;
    struct text lines;
    struct verify_header headers[2];
    struct verify_request request;
    size_t forged; // index of the header
    size_t from;   // its bytes before this one are not forged (a scheme's name in any case)
    bool any_case; // hex digits in either case are lawful
    bool list;     // the header is a list of candidates
    int n;         // forgeries tried
};

static struct slice value_of(const struct scene *scene)
{
    return scene->headers[scene->forged].value;
}

static void parse_lines(struct scene *scene)
{
    struct slice rest = text_slice(&scene->lines);
    while (rest.ptr && rest.len) {
        const unsigned char *colon = memmem(rest.ptr, rest.len, ": ", 2);
        const unsigned char *end = memmem(rest.ptr, rest.len, "\r\n", 2);
        assert_true(colon && end && scene->request.n_headers < ARRAY_LEN(scene->headers));
        scene->headers[scene->request.n_headers++] = (struct verify_header){
                {rest.ptr, (size_t)(colon - rest.ptr)}, {colon + 2, (size_t)(end - colon) - 2}};
        rest = (struct slice){end + 2, rest.len - (size_t)(end + 2 - rest.ptr)};
    }
    scene->request.headers = scene->headers;
}

static void scene_init(struct scene *scene, char *scheme)
{
    scene->secret.value = slice_of(secret_text);
    scene->source.name = scene->source.scheme = scheme;
    scene->source.secrets = &scene->secret;
    scene->source.n_secrets = 1;
    scene->source.verify = &scene->custom;
    scene->request = (struct verify_request){.body = SLICE(BODY), .now_s = NOW};
    text_init(&scene->lines, 1024);
    struct err err;
    assert_true(verify_sign(
            &scene->source, scene->request.body, SLICE("evt_1"), NOW, &scene->lines, &err));
    parse_lines(scene);
}

static void refuse(struct scene *scene, const struct verify_request *forged, const char *how)
{
    struct verify_result original = verify_request(&scene->source, &scene->request);
    assert_row(original.reason == VERIFY_OK && original.secret_index == 0, scene->name);
    struct verify_result got = verify_request(&scene->source, forged);
    if (got.reason == VERIFY_OK)
        fail_msg("%s: accepted a forgery: %s, header \"%.*s\"", scene->name, how,
                (int)forged->headers[scene->forged].value.len,
                (const char *)forged->headers[scene->forged].value.ptr);
    scene->n++;
}

static void refuse_value(struct scene *scene, struct slice value, const char *how)
{
    struct verify_header headers[2] = {scene->headers[0], scene->headers[1]};
    headers[scene->forged].value = value;
    struct verify_request forged = scene->request;
    forged.headers = headers;
    refuse(scene, &forged, how);
}

// The original's value with `cut` bytes at `at` replaced by `put`.
static void refuse_spliced(
        struct scene *scene, size_t at, size_t cut, struct slice put, const char *how)
{
    struct slice value = value_of(scene);
    AUTO_TEXT struct text forged = {.max = 1 << 20};
    text_add(&forged, (struct slice){value.ptr, at});
    text_add(&forged, put);
    text_add(&forged, (struct slice){value.ptr + at + cut, value.len - at - cut});
    refuse_value(scene, text_slice(&forged), how);
}

static void forge_bits(struct scene *scene)
{
    struct slice value = value_of(scene);
    for (size_t at = scene->from; at < value.len; at++) {
        for (int bit = 0; bit < 8; bit++) {
            unsigned char c = (unsigned char)(value.ptr[at] ^ (1u << bit));
            if (scene->any_case && bit == 5 && isalpha(c))
                continue;
            refuse_spliced(scene, at, 1, (struct slice){&c, 1}, "a bit flipped");
        }
    }
}

static void forge_lengths(struct scene *scene)
{
    static const char *const puts[] = {" ", "\t", "\r\n", ",", "=", "0", "+", "\x80", "v1="};
    struct slice value = value_of(scene);
    for (size_t len = 0; len < value.len; len++)
        refuse_value(scene, (struct slice){value.ptr, len}, "truncated");
    for (size_t at = scene->from; at < value.len; at++) {
        refuse_spliced(scene, at, 1, (struct slice){NULL, 0}, "a byte left out");
        refuse_spliced(scene, at, 0, (struct slice){value.ptr + at, 1}, "a byte twice");
        refuse_spliced(scene, at, 0, SLICE("\0"), "a NUL put in");
        for (size_t i = 0; i < ARRAY_LEN(puts); i++)
            refuse_spliced(scene, at, 0, slice_of(puts[i]), "a byte put in");
    }
    for (size_t i = 0; i < ARRAY_LEN(puts); i++)
        refuse_spliced(scene, value.len, 0, slice_of(puts[i]), "extended");
    refuse_spliced(scene, value.len, 0, SLICE("\0"), "extended by a NUL");
    if (!scene->list) // in a list it is one more candidate, and one of them may be right
        refuse_spliced(scene, value.len, 0, value, "twice in one");
}

static void forge_body(struct scene *scene)
{
    unsigned char body[sizeof BODY];
    struct verify_request forged = scene->request;
    for (size_t at = 0; at < sizeof BODY - 1; at++) {
        memcpy(body, BODY, sizeof BODY);
        body[at] ^= 1;
        forged.body = (struct slice){body, sizeof BODY - 1};
        refuse(scene, &forged, "another body byte");
        forged.body = (struct slice){body, at};
        refuse(scene, &forged, "a shorter body");
    }
    memcpy(body, BODY, sizeof BODY);
    forged.body = (struct slice){body, sizeof BODY}; // its NUL is one byte more
    refuse(scene, &forged, "a longer body");
}

static void forge_headers(struct scene *scene)
{
    struct verify_header twice[3] = {scene->headers[0], scene->headers[1]};
    size_t n = scene->request.n_headers;
    twice[n] = scene->headers[scene->forged];
    struct verify_request forged = scene->request;
    forged.headers = twice;
    forged.n_headers = n + 1;
    refuse(scene, &forged, "the header twice");
    twice[n].value = SLICE("");
    refuse(scene, &forged, "the header again, empty");
    forged.n_headers = 0;
    refuse(scene, &forged, "no header");
    AUTO_FREE char *padding = xmalloc(65536);
    memset(padding, 'a', 65536);
    refuse_value(scene, (struct slice){(unsigned char *)padding, 65536}, "64 KiB");
    refuse_spliced(scene, value_of(scene).len, 0, (struct slice){(unsigned char *)padding, 65536},
            "64 KiB behind it");
}

static void forge_secrets(struct scene *scene)
{
    struct source original = scene->source;
    struct secret secret = {.value = slice_of(other_text)};
    static struct {
        struct slice value;
        int64_t from, until;
    } const secrets[] = {
            {{(const unsigned char *)other_text, sizeof other_text - 1}, 0, 0},
            {{NULL, 0}, 0, 0},
            {{(const unsigned char *)secret_text, sizeof secret_text - 2}, 0, 0},
            {{(const unsigned char *)secret_text, sizeof secret_text - 1}, NOW + 1, 0},
            {{(const unsigned char *)secret_text, sizeof secret_text - 1}, 0, NOW},
    };
    for (size_t i = 0; i < ARRAY_LEN(secrets); i++) {
        struct verify_result before = verify_request(&original, &scene->request);
        assert_int_equal(before.reason, VERIFY_OK);
        secret = (struct secret){
                .value = secrets[i].value, .from = secrets[i].from, .until = secrets[i].until};
        scene->source.secrets = &secret;
        struct verify_result got = verify_request(&scene->source, &scene->request);
        assert_int_not_equal(got.reason, VERIFY_OK);
        assert_int_equal(got.secret_index, -1);
        scene->source = original;
        scene->n++;
    }
}

static void forge_all(struct scene *scene)
{
    forge_bits(scene);
    forge_lengths(scene);
    forge_headers(scene);
    forge_secrets(scene);
}

static void refuses_every_forgery_of_stripe(void **state)
{
    (void)state;
    struct scene scene = {.name = "stripe", .list = true};
    scene_init(&scene, stripe_name);
    forge_all(&scene);
    forge_body(&scene);
    assert_true(scene.n > 1500);
    text_fini(&scene.lines);
}

// What the bytes of a header may be made to look like; %s is the right signature.
static const struct {
    const char *name, *value;
} tricks[] = {
        {"only v0", "t=1795961472,v0=%s"},
        {"only V1", "t=1795961472,V1=%s"},
        {"name with space behind", "t=1795961472,v1 =%s"},
        {"name with space before", "t=1795961472, v1=%s"},
        {"longer name", "t=1795961472,xv1=%s"},
        {"longer name behind", "t=1795961472,v11=%s"},
        {"prefix twice", "t=1795961472,v1=v1=%s"},
        {"two equal signs", "t=1795961472,v1==%s"},
        {"quoted", "t=1795961472,v1=\"%s\""},
        {"hex mark", "t=1795961472,v1=0x%s"},
        {"another separator", "t=1795961472;v1=%s"},
        {"no separator", "t=1795961472v1=%s"},
        {"no name", "t=1795961472,%s"},
        {"signature alone", "%s"},
        {"time of another minute", "t=1795961473,v1=%s"},
        {"time behind the signature", "v1=%s,t=1795961473"},
        {"two times, right one first", "t=1795961472,t=1795961473,v1=%s"},
        {"two times, right one last", "t=1795961473,t=1795961472,v1=%s"},
        {"time with a letter", "t=1795961472a,v1=%s"},
        {"time with a sign", "t=+1795961472,v1=%s"},
        {"time with a zero", "t=01795961472,v1=%s"},
        {"time with a fraction", "t=1795961472.0,v1=%s"},
        {"time with a space", "t= 1795961472,v1=%s"},
        {"empty time", "t=,v1=%s"},
        {"no time", "v1=%s"},
        {"time without a value", "t,v1=%s"},
        {"capital T", "T=1795961472,v1=%s"},
        {"empty first item", ",t=1795961472,v1=%s"},
        {"empty last item", "t=1795961472,v1=%s,"},
        {"empty middle item", "t=1795961472,,v1=%s"},
        {"nine candidates", "t=1795961472,v1=,v1=,v1=,v1=,v1=,v1=,v1=,v1=,v1=%s"},
        {"nine candidates, right one first", "t=1795961472,v1=%s,v1=,v1=,v1=,v1=,v1=,v1=,v1=,v1="},
};

static void refuses_tricks_with_the_header_of_stripe(void **state)
{
    (void)state;
    struct scene scene = {.name = "stripe", .list = true};
    scene_init(&scene, stripe_name);
    struct slice value = value_of(&scene);
    char signature[65];
    memcpy(signature, value.ptr + value.len - 64, 64);
    signature[64] = '\0';
    for (size_t i = 0; i < ARRAY_LEN(tricks); i++) {
        AUTO_TEXT struct text forged = {.max = 1024};
        const char *mark = strstr(tricks[i].value, "%s");
        text_add(&forged, (struct slice){(const unsigned char *)tricks[i].value,
                                  (size_t)(mark - tricks[i].value)});
        text_str(&forged, signature);
        text_str(&forged, mark + 2);
        refuse_value(&scene, text_slice(&forged), tricks[i].name);
    }
    AUTO_TEXT struct text forged = {.max = 1 << 17};
    text_add(&forged, value);
    text_fmt(&forged, ",x=%065536d", 0); // an unknown item is passed over, but not one of 64 KiB
    refuse_value(&scene, text_slice(&forged), "64 KiB in an unknown item");
    text_fini(&scene.lines);
}

static char x_header[] = "X-Sig", x_time[] = "X-Time", prefix[] = "v1=", none[] = "", hex[] = "hex",
            base64[] = "base64", seconds[] = "seconds", form[] = "{timestamp}.{body}",
            body_form[] = "{body}", sha256[] = "hmac-sha256";

static void refuses_every_forgery_of_a_custom_scheme(void **state)
{
    (void)state;
    struct scene scene = {.name = "custom hex",
            .forged = 1,
            .any_case = true,
            .custom = {x_header, prefix, hex, x_time, seconds, 300, form, sha256}};
    scene_init(&scene, custom_name);
    forge_all(&scene);
    forge_body(&scene);
    scene.forged = 0; // and its timestamp's header
    scene.any_case = false;
    forge_all(&scene);
    assert_true(scene.n > 1500);
    text_fini(&scene.lines);
}

static void refuses_every_forgery_of_a_base64_signature(void **state)
{
    (void)state;
    struct scene scene = {.name = "custom base64",
            .custom = {x_header, none, base64, NULL, NULL, 0, body_form, sha256}};
    scene_init(&scene, custom_name);
    forge_all(&scene);
    forge_body(&scene);
    assert_true(scene.n > 800);
    text_fini(&scene.lines);
}

static void refuses_every_forgery_of_a_token(void **state)
{
    (void)state;
    struct scene scene = {.name = "app", .from = sizeof "Bearer " - 1};
    scene_init(&scene, app_name);
    forge_all(&scene);
    assert_true(scene.n > 400);
    text_fini(&scene.lines);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(refuses_every_forgery_of_stripe),
            cmocka_unit_test(refuses_tricks_with_the_header_of_stripe),
            cmocka_unit_test(refuses_every_forgery_of_a_custom_scheme),
            cmocka_unit_test(refuses_every_forgery_of_a_base64_signature),
            cmocka_unit_test(refuses_every_forgery_of_a_token),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
