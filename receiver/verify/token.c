// Schemes that sign nothing: the provider sends a shared secret with each request.
#include "common/form.h"
#include "common/json/scan.h"
#include "common/keys.h"
#include "receiver/verify/claim.h"
#include "receiver/verify/mac.h"

#include <openssl/crypto.h>
#include <strings.h>

int token_match(const struct source *source, struct slice token, int64_t now_s)
{
    unsigned char given[32], wanted[32];
    sha256_of(token, given);
    int match = -1;
    for (size_t i = 0; i < source->n_secrets; i++) {
        if (!secret_is_live(&source->secrets[i], now_s))
            continue;
        sha256_of(source->secrets[i].value, wanted);
        if (CRYPTO_memcmp(given, wanted, sizeof given) == 0 && match < 0)
            match = (int)i;
    }
    return match;
}

static struct verify_result result_of(enum verify_reason reason, int match)
{
    if (reason == VERIFY_OK && match < 0)
        reason = VERIFY_NO_MATCH;
    return (struct verify_result){.reason = reason, .secret_index = match};
}

static struct verify_result by_header(
        const struct scheme *row, const struct source *source, const struct verify_request *request)
{
    struct slice value = {NULL, 0}, prefix = slice_of(row->prefix);
    enum verify_reason reason = header_one(request, row->header, VERIFY_NO_HEADER, &value);
    if (reason == VERIFY_OK && !slice_starts(value, prefix))
        reason = VERIFY_BAD_HEADER;
    if (reason != VERIFY_OK)
        return result_of(reason, -1);
    struct slice token = {value.ptr + prefix.len, value.len - prefix.len};
    return result_of(VERIFY_OK, token_match(source, token, request->now_s));
}

// RFC 7617 §2; the scheme's name in any case (RFC 9110 §11.1).
static struct verify_result by_basic(
        const struct source *source, const struct verify_request *request)
{
    unsigned char pair[SCHEME_HEADER_MAX];
    struct slice value = {NULL, 0}, scheme = SLICE("Basic ");
    size_t len = 0;
    enum verify_reason reason = header_one(request, "Authorization", VERIFY_NO_HEADER, &value);
    if (reason != VERIFY_OK)
        return result_of(reason, -1);
    struct slice text = {value.ptr + scheme.len, value.len - scheme.len};
    if (value.len <= scheme.len ||
            strncasecmp((const char *)value.ptr, (const char *)scheme.ptr, scheme.len) != 0 ||
            !encoding_decode_any(ENCODING_BASE64, text, pair, sizeof pair, &len))
        return result_of(VERIFY_BAD_HEADER, -1);
    int match = token_match(source, (struct slice){pair, len}, request->now_s);
    OPENSSL_cleanse(pair, sizeof pair);
    return result_of(VERIFY_OK, match);
}

// Named twice it is not taken: readers differ in which counts.
static struct verify_result by_query(
        const struct scheme *row, const struct source *source, const struct verify_request *request)
{
    AUTO_FORM struct form query = {.n = 0};
    struct slice text = target_query(request->target), token = {NULL, 0};
    size_t n = 0;
    if (text.len == 0)
        return result_of(VERIFY_NO_HEADER, -1);
    if (!form_parse((struct slice){text.ptr + 1, text.len - 1}, &query, NULL))
        return result_of(VERIFY_BAD_HEADER, -1);
    for (size_t i = 0; i < query.n; i++) {
        if (slice_eq(query.pairs[i].name, slice_of(row->header))) {
            token = query.pairs[i].value;
            n++;
        }
    }
    if (n > 1)
        return result_of(VERIFY_REPEATED_HEADER, -1);
    if (token.len == 0)
        return result_of(VERIFY_NO_HEADER, -1);
    return result_of(VERIFY_OK, token_match(source, token, request->now_s));
}

static struct verify_result by_member(
        const struct scheme *row, const struct source *source, struct slice member, int64_t now_s)
{
    AUTO_TEXT struct text token = {.max = SCHEME_HEADER_MAX};
    struct json_result found = {.found = JSON_MISSING};
    if (!json_find(member, &row->header, 1, &found, NULL) || found.found == JSON_DUPLICATE)
        return result_of(VERIFY_BAD_BODY, -1);
    if (found.found != JSON_FOUND || !json_text(found.token, &token, NULL) || token.len == 0)
        return result_of(VERIFY_NO_HEADER, -1);
    return result_of(VERIFY_OK, token_match(source, text_slice(&token), now_s));
}

// Every member must name a secret: one that does vouches for itself alone.
static struct verify_result by_members(
        const struct scheme *row, const struct source *source, const struct verify_request *request)
{
    struct json_result found = {.found = JSON_MISSING};
    struct json_token member;
    size_t at = 0, n = 0;
    if (!json_find(request->body, &row->batch[0], 1, &found, NULL) || found.found == JSON_DUPLICATE)
        return result_of(VERIFY_BAD_BODY, -1);
    struct verify_result result = result_of(VERIFY_NO_HEADER, -1);
    while (found.token.kind == JSON_KIND_ARRAY && json_next(found.token, &at, NULL, &member)) {
        if (++n > SCHEME_MEMBERS_MAX)
            return result_of(VERIFY_BAD_BODY, -1);
        result = by_member(row, source, member.raw, request->now_s);
        if (result.reason != VERIFY_OK)
            return result;
    }
    return result;
}

struct verify_result token_verify(
        const struct scheme *row, const struct source *source, const struct verify_request *request)
{
    switch (row->token) {
    case TOKEN_HEADER:
        return by_header(row, source, request);
    case TOKEN_QUERY:
        return by_query(row, source, request);
    case TOKEN_BASIC:
        return by_basic(source, request);
    case TOKEN_MEMBER:
        break;
    }
    return by_members(row, source, request);
}

bool token_sign(const struct scheme *row, const struct secret *secret, struct slice event_id,
        struct text *out, struct err *err)
{
    if (row->token == TOKEN_QUERY || row->token == TOKEN_MEMBER)
        return err_set(err, ERR_INPUT,
                "scheme \"%s\" has its token in the URL or body, which is not done here",
                row->name);
    if (!header_value_ok(secret->value) || !header_value_ok(event_id))
        return err_set(err, ERR_INPUT, "secret \"%s\" or the event id holds a control character",
                secret->credential);
    if (row->id_header)
        text_fmt(
                out, "%s: %.*s\r\n", row->id_header, (int)event_id.len, (const char *)event_id.ptr);
    if (row->token == TOKEN_BASIC) {
        text_str(out, "Authorization: Basic ");
        encoding_encode(ENCODING_BASE64, secret->value, out);
    } else {
        text_fmt(out, "%s: %s", row->header, row->prefix);
        text_add(out, secret->value);
    }
    text_str(out, "\r\n");
    return !out->overflow || err_set(err, ERR_INPUT, "the headers are too long");
}
