#include "cli/keys/lint.h"

#include "cli/schemes/words.h"
#include "receiver/verify/key.h"

#include <stdarg.h>
#include <stdio.h>

enum { SHORT_FAIL = 8, SHORT_WARN = 16 }; // bytes of a shared secret

void lint_add(struct lints *lints, enum lint_verdict verdict, const char *fmt, ...)
{
    if (lints->n == LINTS_MAX)
        return;
    struct lint *row = &lints->rows[lints->n++];
    row->verdict = verdict;
    va_list args;
    va_start(args, fmt);
    vsnprintf(row->says, sizeof row->says, fmt, args);
    va_end(args);
}

struct slice secret_bytes(struct slice file)
{
    if (file.len && file.ptr[file.len - 1] == '\n')
        file.len--;
    if (file.len && file.ptr[file.len - 1] == '\r')
        file.len--;
    return file;
}

static bool is_space(unsigned char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool holds(struct slice text, const char *word)
{
    return text.len && memmem(text.ptr, text.len, word, strlen(word)) != NULL;
}

static bool is_pem(struct slice text)
{
    return holds(text, "-----BEGIN ");
}

static void lint_space(struct slice text, struct lints *lints)
{
    bool inside = false;
    for (size_t i = 0; i < text.len; i++)
        inside |= is_space(text.ptr[i]);
    if (is_space(text.ptr[text.len - 1]))
        lint_add(lints, LINT_FAIL, "white space or a second line end at its end, and it counts");
    else if (is_space(text.ptr[0]))
        lint_add(lints, LINT_FAIL, "white space at its beginning, and it counts");
    else if (inside)
        lint_add(lints, LINT_WARN, "white space inside, and it counts");
    if (slice_starts(text, SLICE("\xef\xbb\xbf")))
        lint_add(lints, LINT_FAIL, "a byte order mark before it, and it counts");
    bool quoted = text.len > 1 && text.ptr[0] == text.ptr[text.len - 1] &&
                  (text.ptr[0] == '"' || text.ptr[0] == '\'');
    if (quoted)
        lint_add(lints, LINT_FAIL, "quotes around it, and they count");
}

// Beginnings that say what a text is, and that it is no secret of a webhook.
static void lint_prefix(const struct source *source, struct slice text, struct lints *lints)
{
    static const char *const signatures[] = {"v1,", "v1=", "v0=", "sha256=", "sha1=", "t="};
    static const char *const api_keys[] = {
            "sk_live_", "sk_test_", "rk_live_", "rk_test_", "pk_live_", "pk_test_"};
    for (size_t i = 0; i < ARRAY_LEN(signatures); i++) {
        if (slice_starts(text, slice_of(signatures[i])))
            lint_add(lints, LINT_FAIL, "begins with '%s', as a signature does", signatures[i]);
    }
    if (strcmp(source->scheme, "stripe") != 0)
        return;
    for (size_t i = 0; i < ARRAY_LEN(api_keys); i++) {
        if (slice_starts(text, slice_of(api_keys[i])))
            lint_add(lints, LINT_FAIL,
                    "an API key: the endpoint's signing secret begins with whsec_");
    }
    if (!slice_starts(text, SLICE("whsec_")))
        lint_add(lints, LINT_WARN, "Stripe's signing secrets begin with whsec_");
}

static bool takes_pair(const struct scheme *row)
{
    return row->ed25519 != NULL;
}

// A key of the wrong kind: one half of a pair where both sides share a secret, and the other way.
static void lint_kind(const struct scheme *row, struct slice text, struct lints *lints)
{
    bool public_wanted = row->kind == SCHEME_HMAC && row->algorithm >= ALGORITHM_PUBLIC;
    bool pair = slice_starts(text, SLICE("whpk_")) || slice_starts(text, SLICE("whsk_"));
    if (holds(text, "PRIVATE KEY-----"))
        lint_add(lints, LINT_FAIL, "a private key: it belongs to the provider alone");
    else if (is_pem(text) && !public_wanted && row->kind != SCHEME_CODE)
        lint_add(lints, LINT_FAIL,
                "a public key where a shared secret is needed: everybody could sign with it");
    if (pair && !takes_pair(row))
        lint_add(lints, LINT_FAIL,
                "one key of a pair (%.5s) where a shared secret is needed: "
                "everybody could sign with the public one",
                (const char *)text.ptr);
    if (takes_pair(row) && slice_starts(text, SLICE("whsk_")))
        lint_add(lints, LINT_WARN, "the private key: the receiver needs the public one (whpk_)");
    if (public_wanted && slice_starts(text, SLICE("whsec_")))
        lint_add(lints, LINT_FAIL, "a shared secret where the provider's public key is needed");
}

static void lint_length(size_t len, struct lints *lints)
{
    if (len < SHORT_WARN)
        lint_add(lints, len < SHORT_FAIL ? LINT_FAIL : LINT_WARN,
                "only %zu bytes: it can be guessed", len);
}

static void lint_form(
        const struct scheme *row, struct slice text, int64_t now_s, struct lints *lints)
{
    AUTO_SIGN_KEY struct sign_key key = {.pkey = NULL};
    if (!sign_key_make(row, row->algorithm, text, now_s, &key)) {
        lint_add(lints, LINT_FAIL, "can't be read as %s: it proves nothing",
                scheme_key_words(row->key));
        return;
    }
    if (key.kind == SIGN_KEY_SHARED && row->key != SECRET_SHA1)
        lint_length(key.bytes.len, lints);
}

void secret_lint(const struct source *source, struct slice file, int64_t now_s, struct lints *lints)
{
    struct slice text = secret_bytes(file);
    struct scheme room;
    const struct scheme *row = scheme_row_of(source, &room);
    if (text.len == 0) {
        lint_add(lints, LINT_FAIL, "the file is empty");
        return;
    }
    if (!is_pem(text))
        lint_space(text, lints);
    lint_prefix(source, text, lints);
    if (!row)
        return;
    lint_kind(row, text, lints);
    bool wrong = false;
    for (size_t i = 0; i < lints->n; i++)
        wrong |= lints->rows[i].verdict == LINT_FAIL;
    if (row->kind == SCHEME_TOKEN && row->token == TOKEN_BASIC && !holds(text, ":"))
        lint_add(lints, LINT_FAIL, "there is no ':' in it: it is \"user:password\"");
    if (wrong)
        return; // what follows from it is not said again
    if (row->kind == SCHEME_HMAC)
        lint_form(row, text, now_s, lints);
    else if (row->kind == SCHEME_TOKEN || row->kind == SCHEME_BEARER)
        lint_length(text.len, lints);
}
