#include "tests/unit/receiver/verify/keyed_kit.h"

#include "receiver/verify/mac.h"
#include "tests/unit/receiver/verify/rsa_keys.h"
#include <openssl/bn.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <stdio.h>

enum key_answer kit_find(void *user, const struct key_query *query, EVP_PKEY **ret_key)
{
    struct kit_ring *ring = user;
    ring->asked++;
    for (size_t i = 0; i < ring->n; i++) {
        if (ring->rows[i].kind != query->kind ||
                !slice_eq(slice_of(ring->rows[i].url), query->url) ||
                !slice_eq(slice_of(ring->rows[i].kid), query->kid))
            continue;
        if (!ring->rows[i].key)
            return ring->rows[i].answer;
        EVP_PKEY_up_ref(ring->rows[i].key);
        *ret_key = ring->rows[i].key;
        return KEY_READY;
    }
    return query->kind == KEY_JWKS ? KEY_UNKNOWN : KEY_PENDING;
}

EVP_PKEY *kit_rsa(size_t which)
{
    assert_true(which < ARRAY_LEN(kit_rsa_pem));
    BIO *bio = BIO_new_mem_buf(kit_rsa_pem[which], -1);
    EVP_PKEY *key = PEM_read_bio_PrivateKey(bio, NULL, NULL, NULL);
    BIO_free(bio);
    return key;
}

EVP_PKEY *kit_p256(void)
{
    return EVP_PKEY_Q_keygen(NULL, NULL, "EC", "P-256");
}

void kit_base64url(struct slice bytes, struct text *out)
{
    AUTO_TEXT struct text plain = {.max = bytes.len * 2 + 8};
    assert_true(encoding_encode(ENCODING_BASE64, bytes, &plain));
    for (size_t i = 0; i < plain.len && plain.ptr[i] != '='; i++) {
        char c = plain.ptr[i];
        text_char(out, c == '+' ? '-' : c == '/' ? '_' : c);
    }
}

static void add_pair(const unsigned char *der, size_t len, struct text *out)
{
    unsigned char raw[64];
    ECDSA_SIG *pair = d2i_ECDSA_SIG(NULL, &der, (long)len);
    assert_non_null(pair);
    assert_int_equal(BN_bn2binpad(ECDSA_SIG_get0_r(pair), raw, 32), 32);
    assert_int_equal(BN_bn2binpad(ECDSA_SIG_get0_s(pair), raw + 32, 32), 32);
    ECDSA_SIG_free(pair);
    kit_base64url((struct slice){raw, sizeof raw}, out);
}

void kit_sign(EVP_PKEY *key, const char *digest, struct slice text, struct text *out)
{
    unsigned char made[1024];
    size_t len = sizeof made;
    EVP_MD_CTX *ctx = EVP_MD_CTX_new();
    assert_int_equal(EVP_DigestSignInit_ex(ctx, NULL, digest, NULL, NULL, key, NULL), 1);
    assert_int_equal(EVP_DigestSign(ctx, made, &len, text.ptr, text.len), 1);
    EVP_MD_CTX_free(ctx);
    if (EVP_PKEY_is_a(key, "EC"))
        add_pair(made, len, out);
    else
        assert_true(encoding_encode(ENCODING_BASE64, (struct slice){made, len}, out));
}

void kit_pem(EVP_PKEY *key, struct text *out)
{
    BIO *bio = BIO_new(BIO_s_mem());
    char *bytes = NULL;
    assert_int_equal(PEM_write_bio_PUBKEY(bio, key), 1);
    long len = BIO_get_mem_data(bio, &bytes);
    text_add(out, (struct slice){(unsigned char *)bytes, (size_t)len});
    BIO_free(bio);
}

void scene_init(struct scene *scene, const char *scheme, enum published_kind kind, EVP_PKEY *key)
{
    *scene = (struct scene){.n = 0};
    snprintf(scene->scheme, sizeof scene->scheme, "%s", scheme);
    scene->source = (struct source){.name = scene->scheme, .scheme = scene->scheme};
    scene->ring.rows[0].kind = kind;
    scene->ring.rows[0].kid = kind == KEY_JWKS ? "k1" : "";
    scene->ring.rows[0].key = key;
    scene->ring.n = 1;
    scene->keys = (struct key_ring){kit_find, &scene->ring};
    text_init(&scene->body, 65536);
    for (size_t i = 0; i < HEADERS; i++)
        text_init(&scene->values[i], 8192);
}

void scene_fini(struct scene *scene)
{
    text_fini(&scene->body);
    for (size_t i = 0; i < HEADERS; i++)
        text_fini(&scene->values[i]);
}

struct verify_result kit_run(const struct scene *scene, int64_t now_s)
{
    struct verify_header headers[HEADERS];
    for (size_t i = 0; i < scene->n_headers; i++)
        headers[i] =
                (struct verify_header){slice_of(scene->names[i]), text_slice(&scene->values[i])};
    struct verify_request request = {.method = SLICE("POST"),
            .headers = headers,
            .n_headers = scene->n_headers,
            .body = text_slice(&scene->body),
            .now_s = now_s,
            .keys = &scene->keys};
    return verify_request(&scene->source, &request);
}

void accept_original(const struct scene *scene)
{
    struct verify_result got = kit_run(scene, KIT_NOW);
    if (got.reason != VERIFY_OK)
        fail_msg("%s: the original is refused: %s", scene->scheme, verify_reason_name(got.reason));
}

void refuse(struct scene *scene, const char *how)
{
    if (kit_run(scene, KIT_NOW).reason == VERIFY_OK)
        fail_msg("%s: accepted a forgery: %s", scene->scheme, how);
    scene->n++;
}

// One bit after the other, `times` of them spread over the text.
void refuse_flips(struct scene *scene, struct text *text, size_t times, const char *how)
{
    size_t bits = text->len * 8, step = bits > times ? bits / times : 1;
    for (size_t bit = 0; bit < bits; bit += step) {
        char *byte = &text->ptr[bit / 8];
        *byte = (char)(*byte ^ (char)(1 << bit % 8));
        refuse(scene, how);
        *byte = (char)(*byte ^ (char)(1 << bit % 8));
    }
    accept_original(scene);
}

void set_text(struct text *text, const char *value)
{
    text_reset(text);
    assert_true(text_str(text, value));
}

// A header's or the body's text replaced for one try.
void refuse_text(struct scene *scene, struct text *text, const char *value, const char *how)
{
    AUTO_FREE char *before = xstrdup(text_cstr(text));
    set_text(text, value);
    refuse(scene, how);
    set_text(text, before);
    accept_original(scene);
}

// `from` replaced by `to`, once.
void refuse_swap(struct scene *scene, struct text *text, const char *from, const char *to)
{
    AUTO_FREE char *before = xstrdup(text_cstr(text));
    const char *at = strstr(before, from);
    assert_row(at != NULL, from);
    AUTO_TEXT struct text made = {.max = 65536};
    text_fmt(&made, "%.*s%s%s", (int)(at - before), before, to, at + strlen(from));
    refuse_text(scene, text, text_cstr(&made), to);
}
