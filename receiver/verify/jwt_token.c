#include "receiver/verify/jwt_token.h"

#include "common/base64.h"
#include "common/json/scan.h"

#include <stdio.h>

enum { CLAIM_POINTER_MAX = 128, MEMBERS = 4 };

void jwt_token_fini(struct jwt_token *token)
{
    text_fini(&token->kid);
    text_fini(&token->body_hash);
}

// What stands before the next '.'; false without one.
static bool cut(struct slice *rest, struct slice *ret_part)
{
    const unsigned char *dot = rest->len ? memchr(rest->ptr, '.', rest->len) : NULL;
    if (!dot)
        return false;
    *ret_part = (struct slice){rest->ptr, (size_t)(dot - rest->ptr)};
    *rest = slice_from(*rest, ret_part->len + 1);
    return true;
}

// A part's JSON and some of its members, none of which may stand there twice.
static bool read_members(struct slice part, unsigned char *room, const char *const *pointers,
        size_t n, struct json_result *found)
{
    size_t len = 0;
    if (!base64url_decode(part, room, JWT_PART_MAX, &len) ||
            !json_find((struct slice){room, len}, pointers, n, found, NULL))
        return false;
    for (size_t i = 0; i < n; i++)
        if (found[i].found == JSON_DUPLICATE)
            return false;
    return true;
}

static bool is_word(const struct json_result *member, const char *word)
{
    AUTO_TEXT struct text value = {.max = 32};
    return member->found == JSON_FOUND && json_text(member->token, &value, NULL) &&
           strcmp(text_cstr(&value), word) == 0;
}

static enum verify_reason read_header(
        struct slice part, const struct scheme *row, struct jwt_token *token)
{
    static const char *const pointers[MEMBERS] = {"/alg", "/kid", "/crit", "/b64"};
    static const char *const names[] = {
            [JWT_NONE] = "", [JWT_HS256] = "HS256", [JWT_RS256] = "RS256", [JWT_ES256] = "ES256"};
    unsigned char room[JWT_PART_MAX];
    struct json_result found[MEMBERS];
    text_init(&token->kid, PUBKEY_KID_MAX);
    if (!read_members(part, room, pointers, MEMBERS, found))
        return VERIFY_BAD_HEADER;
    if (row->jwt == JWT_NONE || !is_word(&found[0], names[row->jwt]))
        return VERIFY_ALGORITHM;
    // RFC 7515 §4.1.11: what is critical and not understood makes the token invalid.
    if (found[2].found != JSON_MISSING || found[3].found != JSON_MISSING)
        return VERIFY_BAD_HEADER;
    bool named = found[1].found == JSON_FOUND;
    return !named || json_text(found[1].token, &token->kid, NULL) ? VERIFY_OK : VERIFY_BAD_HEADER;
}

enum verify_reason jwt_token_read(
        struct slice text, const struct scheme *row, struct jwt_token *token)
{
    struct slice rest = text, header;
    if (!cut(&rest, &header) || !cut(&rest, &token->payload) || header.len == 0 ||
            token->payload.len == 0)
        return VERIFY_BAD_HEADER;
    token->signed_part = (struct slice){text.ptr, text.len - rest.len - 1};
    enum verify_reason reason = read_header(header, row, token);
    if (reason != VERIFY_OK)
        return reason;
    bool read = base64url_decode(
            rest, token->signature, sizeof token->signature, &token->signature_len);
    return read && token->signature_len ? VERIFY_OK : VERIFY_BAD_HEADER;
}

// NumericDate (RFC 7519 §2), whole seconds: some libraries add ".0" or more, which is dropped.
static bool read_date(const struct json_result *member, bool *ret_there, int64_t *ret_s)
{
    struct json_token token = member->token;
    *ret_there = member->found == JSON_FOUND;
    if (!*ret_there)
        return true;
    if (token.kind != JSON_KIND_NUMBER)
        return false;
    const unsigned char *dot = memchr(token.raw.ptr, '.', token.raw.len);
    bool exponent =
            memchr(token.raw.ptr, 'e', token.raw.len) || memchr(token.raw.ptr, 'E', token.raw.len);
    if (dot && !exponent)
        token.raw.len = (size_t)(dot - token.raw.ptr);
    // So far from the end of the range that no sum passes it.
    return json_int64(token, ret_s, NULL) && *ret_s >= 0 && *ret_s < INT64_C(1) << 40;
}

enum verify_reason jwt_token_read_claims(const struct scheme *row, struct jwt_token *token)
{
    char hash[CLAIM_POINTER_MAX];
    int len = snprintf(hash, sizeof hash, "/%s", row->body_hash);
    const char *const pointers[MEMBERS] = {"/iat", "/exp", "/nbf", hash};
    unsigned char room[JWT_PART_MAX];
    struct json_result found[MEMBERS];
    text_init(&token->body_hash, JWT_HASH_MAX);
    if (len < 0 || (size_t)len >= sizeof hash ||
            !read_members(token->payload, room, pointers, MEMBERS, found))
        return VERIFY_BAD_HEADER;
    if (!read_date(&found[0], &token->has_issued, &token->issued_s) ||
            !read_date(&found[1], &token->has_expires, &token->expires_s) ||
            !read_date(&found[2], &token->has_not_before, &token->not_before_s))
        return VERIFY_BAD_TIME;
    bool bound = found[3].found == JSON_FOUND && json_text(found[3].token, &token->body_hash, NULL);
    return bound ? VERIFY_OK : VERIFY_BODY_HASH;
}
