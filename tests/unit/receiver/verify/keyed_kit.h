// keyed_kit.h: keys of a test's own, signatures by them, and a key ring that is a table.
#pragma once
#include "receiver/verify/keyed.h"
#include "tests/test.h"

enum { KIT_NOW = 1795961472, HEADERS = 5, FORGED_MIN = 300 };

struct kit_ring {
    struct {
        enum published_kind kind;
        const char *url, *kid;
        EVP_PKEY *key; // NULL = answer
        enum key_answer answer;
    } rows[4];
    size_t n, asked;
};
enum key_answer kit_find(void *ring, const struct key_query *query, EVP_PKEY **ret_key);

// One of two keys, 0 or 1.
EVP_PKEY *kit_rsa(size_t which);
EVP_PKEY *kit_p256(void);

// Appends the signature: base64 (RSA), or base64url of r and s (P-256).
void kit_sign(EVP_PKEY *key, const char *digest, struct slice text, struct text *out);
void kit_base64url(struct slice bytes, struct text *out);
// Appends PEM: the public key.
void kit_pem(EVP_PKEY *key, struct text *out);

// A request that is accepted; copies of it are forged.
struct scene {
    char scheme[16], name[16];
    struct source source;
    struct secret secret;
    struct kit_ring ring;
    struct key_ring keys;
    struct text body, values[HEADERS];
    const char *names[HEADERS];
    size_t n_headers;
    int n; // forgeries refused
};

// kind says where the scheme's key is published; key is borrowed.
void scene_init(struct scene *scene, const char *scheme, enum published_kind kind, EVP_PKEY *key);
void scene_fini(struct scene *scene);
struct verify_result kit_run(const struct scene *scene, int64_t now_s);
void set_text(struct text *text, const char *value);

void accept_original(const struct scene *scene);
// Each counts a forgery that was refused, and fails the test when it was not.
void refuse(struct scene *scene, const char *how);
// One bit after the other, `times` of them spread over the text.
void refuse_flips(struct scene *scene, struct text *text, size_t times, const char *how);
// A header's or the body's text replaced for one try.
void refuse_text(struct scene *scene, struct text *text, const char *value, const char *how);
// `from` replaced by `to`, once.
void refuse_swap(struct scene *scene, struct text *text, const char *from, const char *to);
