#include "common/json/scan.h"
#include "receiver/verify/claim.h"
#include "receiver/verify/handshake.h"
#include "receiver/verify/key.h"
#include "receiver/verify/mac.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>

const struct secret *secret_first_live(const struct source *source, int64_t now_s)
{
    for (size_t i = 0; i < source->n_secrets; i++) {
        if (secret_is_live(&source->secrets[i], now_s))
            return &source->secrets[i];
    }
    return NULL;
}

// The signatures as bytes. One that does not decode, or is of another length than its kind has, is
// dropped: it can't match.
struct candidates {
    size_t n;
    size_t len[SCHEME_CANDIDATES_MAX];
    bool ed25519[SCHEME_CANDIDATES_MAX];
    unsigned char bytes[SCHEME_CANDIDATES_MAX][SCHEME_SIGNATURE_MAX];
};

static bool of_its_length(const struct claim *claim, bool ed25519, size_t len)
{
    if (ed25519)
        return len == ED25519_SIGNATURE;
    return claim->algorithm < ALGORITHM_PUBLIC ? len == mac_size(claim->algorithm) : len != 0;
}

static void candidates_read(
        const struct scheme *row, const struct claim *claim, struct candidates *candidates)
{
    candidates->n = 0;
    for (size_t i = 0; i < claim->n_signatures; i++) {
        size_t *len = &candidates->len[candidates->n];
        candidates->ed25519[candidates->n] = claim->ed25519[i];
        if (encoding_decode_any(row->encoding, claim->signatures[i],
                    candidates->bytes[candidates->n], SCHEME_SIGNATURE_MAX, len) &&
                of_its_length(claim, claim->ed25519[i], *len))
            candidates->n++;
    }
}

// Whole digests in constant time, and never stopping at the first that is equal.
static bool any_equal(const struct candidates *candidates, const unsigned char *digest, size_t len)
{
    unsigned equal = 0;
    for (size_t i = 0; i < candidates->n; i++) {
        if (!candidates->ed25519[i])
            equal |= (unsigned)(CRYPTO_memcmp(candidates->bytes[i], digest, len) == 0);
    }
    return equal != 0;
}

static bool any_signed(const struct sign_key *key, const struct candidates *candidates,
        const struct signed_bytes *made)
{
    bool valid = false;
    for (size_t i = 0; i < candidates->n; i++) {
        if (candidates->ed25519[i] == (key->kind == SIGN_KEY_OBJECT))
            continue;
        struct slice signature = {candidates->bytes[i], candidates->len[i]};
        valid |= key->kind == SIGN_KEY_OBJECT
                         ? pair_verify(key->pkey, made->pieces, made->n, signature)
                         : ed25519_verify(key->bytes, key->kind == SIGN_KEY_PRIVATE, made->pieces,
                                   made->n, signature.ptr);
    }
    return valid;
}

static bool made_by(const struct sign_key *key, const struct claim *claim,
        const struct candidates *candidates, const struct signed_bytes *made)
{
    unsigned char digest[SCHEME_DIGEST_MAX];
    if (key->kind != SIGN_KEY_SHARED)
        return any_signed(key, candidates, made);
    return mac_of(claim->algorithm, key->bytes, made->pieces, made->n, digest) &&
           any_equal(candidates, digest, mac_size(claim->algorithm));
}

// One secret against every spelling of what is signed.
static bool secret_matches(const struct scheme *row, const struct secret *secret,
        const struct claim *claim, const struct candidates *candidates,
        const struct verify_request *request)
{
    AUTO_SIGN_KEY struct sign_key key;
    key.pkey = NULL;
    key.used = false;
    key.kind = SIGN_KEY_SHARED;
    size_t n_variants = claim->n_variants ? claim->n_variants : 1;
    bool match = false;
    if (!secret_is_live(secret, request->now_s) ||
            !sign_key_make(row, claim->algorithm, secret->value, request->now_s, &key))
        return false;
    for (size_t i = 0; i < n_variants; i++) {
        struct signed_bytes made = claim_bytes(row, claim, request, i);
        match |= made_by(&key, claim, candidates, &made);
    }
    return match;
}

// The first live secret that made one of the candidates; -1 = none. All are tried in any case, so
// that the time taken does not say which one it was.
static int matching_secret(const struct scheme *row, const struct source *source,
        const struct claim *claim, const struct verify_request *request)
{
    struct candidates candidates;
    candidates_read(row, claim, &candidates);
    int match = -1;
    for (size_t i = 0; i < source->n_secrets; i++) {
        if (secret_matches(row, &source->secrets[i], claim, &candidates, request) && match < 0)
            match = (int)i;
    }
    return match;
}

static enum verify_reason judge_time(
        const struct scheme *row, const struct claim *claim, int64_t now_s)
{
    if (row->time.from == TIME_NONE)
        return VERIFY_OK;
    if (now_s - claim->at_s > row->time.past_s)
        return VERIFY_TOO_OLD;
    return claim->at_s - now_s > row->time.future_s ? VERIFY_TOO_NEW : VERIFY_OK;
}

static struct verify_result refused(enum verify_reason reason)
{
    return (struct verify_result){.reason = reason, .secret_index = -1};
}

// Where what is signed says nothing of the event, it may come only once.
static void note_once(const struct scheme *row, const struct claim *claim,
        const struct verify_request *request, struct verify_result *result)
{
    if (result->reason != VERIFY_OK || !row->once)
        return;
    EVP_MD_CTX *ctx = EVP_MD_CTX_new();
    struct signed_bytes made = claim_bytes(row, claim, request, 0);
    struct slice *last = &made.pieces[made.n - 1]; // a row has parts
    if (row->lost_line_end && last->len && last->ptr[last->len - 1] == '\n')
        last->len--; // with it or without, it is the same
    bool ok = ctx && EVP_DigestInit_ex(ctx, EVP_sha256(), NULL) == 1;
    for (size_t i = 0; ok && i < made.n; i++)
        ok = EVP_DigestUpdate(ctx, made.pieces[i].ptr, made.pieces[i].len) == 1;
    if (!ok || EVP_DigestFinal_ex(ctx, result->once, NULL) != 1)
        abort(); // as out of memory: libcrypto without SHA-256 can't be worked with
    result->has_once = true;
    EVP_MD_CTX_free(ctx);
}

// However it is spelt.
static bool anybody_could_sign(const struct scheme *row, const struct source *source,
        const struct claim *claim, const struct verify_request *request)
{
    bool could = false;
    for (size_t i = 0; i == 0 || i < claim->n_variants; i++) {
        struct signed_bytes made = claim_bytes(row, claim, request, i);
        could |= handshake_signs(source, made.pieces, made.n);
    }
    return could;
}

static struct verify_result judge(const struct scheme *row, const struct source *source,
        const struct verify_request *request, struct slice doc)
{
    AUTO_CLAIM struct claim claim = {.doc = doc};
    enum verify_reason reason = claim_read(row, source, request, &claim);
    if (reason != VERIFY_OK)
        return refused(reason);
    int match = matching_secret(row, source, &claim, request);
    if (match < 0 || anybody_could_sign(row, source, &claim, request))
        return refused(VERIFY_NO_MATCH);
    if (claim.body_hash_wrong)
        return refused(VERIFY_BODY_HASH);
    // Behind the digest, so that "too old" is only said of what the provider did sign.
    reason = judge_time(row, &claim, request->now_s);
    struct verify_result result = {.reason = reason, .secret_index = match};
    note_once(row, &claim, request, &result);
    return result;
}

// A request is authentic when each of its members is; without one nothing is signed.
static struct verify_result judge_each(
        const struct scheme *row, const struct source *source, const struct verify_request *request)
{
    struct json_result found = {.found = JSON_MISSING};
    struct json_token member;
    size_t at = 0, n = 0;
    if (!json_find(request->body, &row->batch[0], 1, &found, NULL) || found.found == JSON_DUPLICATE)
        return refused(VERIFY_BAD_BODY);
    struct verify_result result = refused(VERIFY_NO_HEADER);
    while (found.token.kind == JSON_KIND_ARRAY && json_next(found.token, &at, NULL, &member)) {
        if (++n > SCHEME_MEMBERS_MAX)
            return refused(VERIFY_BAD_BODY);
        result = judge(row, source, request, member.raw);
        if (result.reason != VERIFY_OK)
            return result;
    }
    return result;
}

struct verify_result engine_verify(
        const struct scheme *row, const struct source *source, const struct verify_request *request)
{
    return row->each ? judge_each(row, source, request)
                     : judge(row, source, request, request->body);
}
