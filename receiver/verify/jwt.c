// RFC 7515 (JWS, compact form), RFC 7519 (JWT), RFC 8725 (what goes wrong with them).
#include "receiver/verify/jwt.h"

#include "common/base64.h"
#include "common/json/scan.h"
#include "common/keys.h"
#include "receiver/verify/claim.h"
#include "receiver/verify/jwt_token.h"
#include "receiver/verify/keyed.h"
#include "receiver/verify/mac.h"
#include "receiver/verify/moment.h"

#include <openssl/crypto.h>

enum { SHIPENGINE_SIGNATURE_MAX = PUBKEY_RSA_BITS_MAX / 8 };

// HMAC by each live secret; all are tried, so that the time does not say which one it was.
static enum verify_reason by_shared(
        const struct jwt_token *token, const struct source *source, int64_t now_s, int *ret_secret)
{
    unsigned char digest[SCHEME_DIGEST_MAX];
    size_t size = mac_size(HMAC_SHA256);
    *ret_secret = -1;
    for (size_t i = 0; i < source->n_secrets; i++) {
        const struct secret *secret = &source->secrets[i];
        // A public key is known to all: what is signed with it as if it were a secret is not
        // signed.
        if (!secret_is_live(secret, now_s) || keyed_is_key(secret))
            continue;
        bool made = mac_of(HMAC_SHA256, secret->value, &token->signed_part, 1, digest);
        if (made && token->signature_len == size &&
                CRYPTO_memcmp(digest, token->signature, size) == 0 && *ret_secret < 0)
            *ret_secret = (int)i;
    }
    return *ret_secret < 0 ? VERIFY_NO_MATCH : VERIFY_OK;
}

static enum verify_reason by_public(const struct scheme *row, const struct jwt_token *token,
        const struct source *source, const struct verify_request *request, int *ret_secret)
{
    struct keyed keyed = {.algorithm = row->jwt == JWT_ES256 ? PK_ES256 : PK_RSA_SHA256,
            .pieces = &token->signed_part,
            .n_pieces = 1,
            .signature = {token->signature, token->signature_len},
            .query = {.kind = KEY_JWKS,
                    .source = source->name,
                    .url = slice_of(source->jwks),
                    .kid = text_slice(&token->kid),
                    .now_s = request->now_s}};
    return keyed_verify(&keyed, source, request, ret_secret);
}

static enum verify_reason judge_body(
        const struct scheme *row, const struct jwt_token *token, struct slice body)
{
    unsigned char digest[32], claimed[32];
    sha256_of(body, digest);
    struct slice text = text_slice(&token->body_hash);
    bool read = encoding_decode(row->encoding, text, claimed, sizeof claimed);
    return read && CRYPTO_memcmp(digest, claimed, sizeof digest) == 0 ? VERIFY_OK
                                                                      : VERIFY_BODY_HASH;
}

// A token lives from nbf to exp by its own word, and no longer than the row allows from iat, which
// the row's time may name as demanded.
static enum verify_reason judge_time(
        const struct scheme *row, const struct jwt_token *token, int64_t now_s)
{
    const struct scheme_time *time = &row->time;
    if (!token->has_issued && (time->name || !token->has_expires))
        return VERIFY_NO_TIME;
    if (token->has_issued && now_s - token->issued_s > time->past_s)
        return VERIFY_TOO_OLD;
    if (token->has_expires && now_s >= token->expires_s)
        return VERIFY_TOO_OLD;
    bool early = (token->has_issued && token->issued_s - now_s > time->future_s) ||
                 (token->has_not_before && token->not_before_s - now_s > time->future_s);
    return early ? VERIFY_TOO_NEW : VERIFY_OK;
}

// "Bearer " is not part of the token; its name is in any case (RFC 9110 §11.1).
static struct slice without_bearer(struct slice value)
{
    struct slice word = SLICE("bearer ");
    for (size_t i = 0; i < word.len; i++)
        if (i >= value.len || (value.ptr[i] | 0x20) != word.ptr[i])
            return value;
    return slice_from(value, word.len);
}

struct verify_result jwt_verify(
        const struct scheme *row, const struct source *source, const struct verify_request *request)
{
    AUTO_TOKEN struct jwt_token token = {.signature_len = 0};
    struct verify_result result = {.secret_index = -1};
    struct slice value;
    result.reason = header_one(request, row->header, VERIFY_NO_HEADER, &value);
    if (result.reason == VERIFY_OK)
        result.reason = jwt_token_read(without_bearer(value), row, &token);
    if (result.reason == VERIFY_OK)
        result.reason = row->jwt == JWT_HS256
                                ? by_shared(&token, source, request->now_s, &result.secret_index)
                                : by_public(row, &token, source, request, &result.secret_index);
    if (result.reason == VERIFY_OK)
        result.reason = jwt_token_read_claims(row, &token);
    if (result.reason == VERIFY_OK)
        result.reason = judge_body(row, &token, request->body);
    if (result.reason != VERIFY_OK)
        result.secret_index = -1;
    else
        result.reason = judge_time(row, &token, request->now_s);
    result.has_once = result.reason == VERIFY_OK && row->once;
    if (result.has_once)
        sha256_of(token.signed_part, result.once);
    return result;
}

struct verify_result jwt_custom_verify(
        const struct scheme *row, const struct source *source, const struct verify_request *request)
{
    const struct token_rule *rule = source->token;
    if (!rule)
        return (struct verify_result){.reason = VERIFY_NO_SECRET, .secret_index = -1};
    struct scheme made = *row;
    made.header = rule->header;
    made.jwt = rule->algorithm;
    made.body_hash = rule->body_hash;
    made.encoding = strcmp(rule->encoding, "hex") == 0 ? ENCODING_HEX : ENCODING_BASE64;
    made.time = (struct scheme_time){.past_s = rule->tolerance_s, .future_s = rule->tolerance_s};
    return jwt_verify(&made, source, request);
}

// https://www.shipengine.com/docs/webhooks/#security. The time is RFC 3339 or seconds.
static enum verify_reason read_shipment(const struct verify_request *request,
        struct slice *ret_time, int64_t *ret_at_s, struct slice *ret_kid)
{
    enum verify_reason reason =
            header_one(request, "x-shipengine-timestamp", VERIFY_NO_TIME, ret_time);
    if (reason == VERIFY_OK)
        reason = header_one(request, "x-shipengine-rsa-sha256-key-id", VERIFY_NO_HEADER, ret_kid);
    if (reason != VERIFY_OK)
        return reason;
    return moment_read(*ret_time, ret_at_s) || moment_read_unix(*ret_time, ret_at_s)
                   ? VERIFY_OK
                   : VERIFY_BAD_TIME;
}

struct verify_result shipengine_verify(
        const struct scheme *row, const struct source *source, const struct verify_request *request)
{
    struct verify_result result = {.secret_index = -1};
    struct slice value, time, kid;
    unsigned char signature[SHIPENGINE_SIGNATURE_MAX];
    size_t len = 0;
    int64_t at_s = 0;
    result.reason = header_one(request, row->header, VERIFY_NO_HEADER, &value);
    if (result.reason == VERIFY_OK)
        result.reason = read_shipment(request, &time, &at_s, &kid);
    if (result.reason != VERIFY_OK)
        return result;
    if (!encoding_decode_any(ENCODING_BASE64, value, signature, sizeof signature, &len)) {
        result.reason = VERIFY_BAD_HEADER;
        return result;
    }
    const struct slice pieces[] = {time, SLICE("."), request->body};
    struct keyed keyed = {.algorithm = PK_RSA_SHA256,
            .pieces = pieces,
            .n_pieces = ARRAY_LEN(pieces),
            .signature = {signature, len},
            .query = {.kind = KEY_JWKS,
                    .source = source->name,
                    .url = slice_of(source->jwks),
                    .kid = kid,
                    .now_s = request->now_s}};
    result.reason = keyed_verify(&keyed, source, request, &result.secret_index);
    if (result.reason == VERIFY_OK && request->now_s - at_s > row->time.past_s)
        result.reason = VERIFY_TOO_OLD;
    if (result.reason == VERIFY_OK && at_s - request->now_s > row->time.future_s)
        result.reason = VERIFY_TOO_NEW;
    return result;
}
