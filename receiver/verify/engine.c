#include "receiver/verify/claim.h"
#include "receiver/verify/mac.h"

#include <openssl/crypto.h>

enum { KEY_MAX = 512 }; // bytes of a secret that is stored encoded

// The bytes the digests are made with. Only an encoded secret needs the room.
struct mac_key {
    struct slice bytes;
    enum key_kind { KEY_SHARED, KEY_PUBLIC, KEY_PRIVATE } kind;
    unsigned char room[KEY_MAX];
};

static void mac_key_fini(struct mac_key *key)
{
    OPENSSL_cleanse(key->room, sizeof key->room);
}
#define AUTO_MAC_KEY __attribute__((cleanup(mac_key_fini)))

// "whpk_" and "whsk_" say that a key is one of a pair, and it is never taken for a shared secret:
// everybody knows the public one. The private one is its seed, with or without the public half.
static bool pair_key_make(struct slice secret, struct mac_key *key)
{
    key->kind = slice_starts(secret, SLICE("whsk_")) ? KEY_PRIVATE : KEY_PUBLIC;
    size_t len = 0;
    struct slice text = {secret.ptr + 5, secret.len - 5};
    if (!encoding_decode_any(ENCODING_BASE64, text, key->room, sizeof key->room, &len))
        return false;
    key->bytes = (struct slice){key->room, ED25519_KEY};
    return len == ED25519_KEY || (key->kind == KEY_PRIVATE && len == 2 * ED25519_KEY);
}

static bool is_of_pair(const struct scheme *row, struct slice secret)
{
    return row->ed25519 &&
           (slice_starts(secret, SLICE("whpk_")) || slice_starts(secret, SLICE("whsk_")));
}

static bool mac_key_make(const struct scheme *row, struct slice secret, struct mac_key *key)
{
    if (is_of_pair(row, secret))
        return pair_key_make(secret, key);
    if (row->key == SECRET_VERBATIM) {
        key->bytes = secret;
        return secret.len != 0;
    }
    struct slice prefix = SLICE("whsec_");
    if (row->key == SECRET_WHSEC && slice_starts(secret, prefix))
        secret = (struct slice){secret.ptr + prefix.len, secret.len - prefix.len};
    enum scheme_encoding encoding = row->key == SECRET_HEX ? ENCODING_HEX : ENCODING_BASE64;
    size_t len = 0;
    if (!encoding_decode_any(encoding, secret, key->room, sizeof key->room, &len))
        return false;
    key->bytes = (struct slice){key->room, len};
    return len != 0;
}

bool secret_is_live(const struct secret *secret, int64_t now_s)
{
    if (secret->value.len == 0 || (secret->from && now_s < secret->from))
        return false;
    return !secret->until || now_s < secret->until;
}

const struct secret *secret_first_live(const struct source *source, int64_t now_s)
{
    for (size_t i = 0; i < source->n_secrets; i++) {
        if (secret_is_live(&source->secrets[i], now_s))
            return &source->secrets[i];
    }
    return NULL;
}

static struct slice piece_of(
        const struct scheme_part *part, const struct claim *claim, struct slice body)
{
    switch (part->kind) {
    case PART_TIMESTAMP:
        return claim->timestamp;
    case PART_BODY:
        return body;
    case PART_ID:
        return claim->id;
    case PART_URL:
        return text_slice(&claim->urls[0]);
    case PART_FORM:
        return text_slice(&claim->form);
    case PART_LITERAL:
    case PART_END:
        break;
    }
    return part->literal;
}

// What is signed; which URL, of those there are.
struct signed_bytes {
    struct slice pieces[SCHEME_PARTS_MAX];
    size_t n;
};

static struct signed_bytes bytes_of(
        const struct scheme *row, const struct claim *claim, struct slice body, size_t url)
{
    struct signed_bytes made = {.n = 0};
    for (; row->parts[made.n].kind != PART_END; made.n++)
        made.pieces[made.n] = row->parts[made.n].kind == PART_URL
                                      ? text_slice(&claim->urls[url])
                                      : piece_of(&row->parts[made.n], claim, body);
    return made;
}

// The candidates of one kind as digests; one that does not decode to a whole digest is dropped.
struct candidates {
    unsigned char digest[SCHEME_CANDIDATES_MAX][SCHEME_DIGEST_MAX];
    size_t n;
};

static struct candidates candidates_read(
        const struct scheme *row, const struct claim *claim, bool ed25519)
{
    struct candidates candidates = {.n = 0};
    size_t size = ed25519 ? (size_t)ED25519_SIGNATURE : mac_size(row->algorithm);
    for (size_t i = 0; i < claim->n_signatures; i++) {
        if (claim->ed25519[i] == ed25519 && encoding_decode(row->encoding, claim->signatures[i],
                                                    candidates.digest[candidates.n], size))
            candidates.n++;
    }
    return candidates;
}

// Whole digests in constant time, and never stopping at the first that is equal.
static bool any_equal(const struct candidates *candidates, const unsigned char *digest, size_t len)
{
    unsigned equal = 0;
    for (size_t i = 0; i < candidates->n; i++)
        equal |= (unsigned)(CRYPTO_memcmp(candidates->digest[i], digest, len) == 0);
    return equal != 0;
}

static bool any_signed(const struct mac_key *key, const struct candidates *candidates,
        const struct signed_bytes *made)
{
    bool valid = false;
    for (size_t i = 0; i < candidates->n; i++)
        valid |= ed25519_verify(
                key->bytes, key->kind == KEY_PRIVATE, made->pieces, made->n, candidates->digest[i]);
    return valid;
}

// A request's candidates, by the kind of key that can have made them.
struct offered {
    struct candidates shared, pair;
};

static bool made_by(const struct scheme *row, struct slice secret, const struct offered *offered,
        const struct signed_bytes *made)
{
    AUTO_MAC_KEY struct mac_key key = {.bytes = {NULL, 0}};
    unsigned char digest[SCHEME_DIGEST_MAX];
    if (!mac_key_make(row, secret, &key))
        return false;
    if (key.kind != KEY_SHARED)
        return any_signed(&key, &offered->pair, made);
    return mac_of(row->algorithm, key.bytes, made->pieces, made->n, digest) &&
           any_equal(&offered->shared, digest, mac_size(row->algorithm));
}

// The first live secret that made one of the candidates; -1 = none. All are tried in any case, so
// that the time taken does not say which one it was.
static int matching_secret(const struct scheme *row, const struct source *source,
        const struct claim *claim, const struct verify_request *request)
{
    struct offered offered = {
            candidates_read(row, claim, false), candidates_read(row, claim, true)};
    size_t n_urls = claim->n_urls ? claim->n_urls : 1;
    int match = -1;
    for (size_t i = 0; i < n_urls * source->n_secrets; i++) {
        const struct secret *secret = &source->secrets[i / n_urls];
        struct signed_bytes made = bytes_of(row, claim, request->body, i % n_urls);
        if (secret_is_live(secret, request->now_s) &&
                made_by(row, secret->value, &offered, &made) && match < 0)
            match = (int)(i / n_urls);
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

struct verify_result engine_verify(
        const struct scheme *row, const struct source *source, const struct verify_request *request)
{
    AUTO_CLAIM struct claim claim = {.n_signatures = 0};
    enum verify_reason reason = claim_read(row, source, request, &claim);
    if (reason != VERIFY_OK)
        return (struct verify_result){.reason = reason, .secret_index = -1};
    int match = matching_secret(row, source, &claim, request);
    if (match < 0)
        return (struct verify_result){.reason = VERIFY_NO_MATCH, .secret_index = -1};
    if (claim.body_hash_wrong)
        return (struct verify_result){.reason = VERIFY_BODY_HASH, .secret_index = -1};
    // Behind the digest, so that "too old" is only said of what the provider did sign.
    reason = judge_time(row, &claim, request->now_s);
    return (struct verify_result){.reason = reason, .secret_index = match};
}

// The item's name and signature, e.g. "v1=<hex>".
static bool sign_item(const struct scheme *row, struct slice secret, const struct claim *claim,
        struct slice body, struct text *out)
{
    AUTO_MAC_KEY struct mac_key key = {.bytes = {NULL, 0}};
    unsigned char digest[SCHEME_DIGEST_MAX];
    struct signed_bytes made = bytes_of(row, claim, body, 0);
    if (!mac_key_make(row, secret, &key) || key.kind == KEY_PUBLIC)
        return false;
    bool pair = key.kind == KEY_PRIVATE;
    if (!pair && row->ed25519 && strcmp(row->keys[0], row->ed25519) == 0)
        return false;
    if (!(pair ? ed25519_sign(key.bytes, made.pieces, made.n, digest)
               : mac_of(row->algorithm, key.bytes, made.pieces, made.n, digest)))
        return false;
    if (row->kv_sep)
        text_fmt(out, "%s%s", pair ? row->ed25519 : row->keys[0], row->kv_sep);
    text_str(out, row->prefix);
    size_t size = pair ? (size_t)ED25519_SIGNATURE : mac_size(row->algorithm);
    return encoding_encode(row->encoding, (struct slice){digest, size}, out);
}

// The headers that stand beside the signature's own.
static void sign_beside(const struct scheme *row, const struct claim *claim, struct text *out)
{
    if (row->id_header)
        text_fmt(out, "%s: %.*s\r\n", row->id_header, (int)claim->id.len,
                (const char *)claim->id.ptr);
    if (row->time.from == TIME_HEADER)
        text_fmt(out, "%s: %.*s\r\n", row->time.name, (int)claim->timestamp.len,
                (const char *)claim->timestamp.ptr);
}

static bool signs_request_bytes(const struct scheme *row)
{
    for (size_t i = 0; row->parts[i].kind != PART_END; i++) {
        if (row->parts[i].kind == PART_URL || row->parts[i].kind == PART_FORM)
            return false;
    }
    return true;
}

bool engine_sign(const struct scheme *row, const struct secret *secret,
        const struct verify_request *request, struct slice event_id, struct text *out,
        struct err *err)
{
    if (!signs_request_bytes(row))
        return err_set(err, ERR_INPUT, "scheme \"%s\" signs URLs and forms, which is not done here",
                row->name);
    char stamp[24];
    int64_t at = row->time.milliseconds ? request->now_s * 1000 : request->now_s;
    int len = snprintf(stamp, sizeof stamp, "%lld", (long long)at);
    AUTO_CLAIM struct claim claim = {
            .id = event_id, .timestamp = {(const unsigned char *)stamp, (size_t)len}};
    if (!row->id_header && claim_read_id(row, request, &claim) != VERIFY_OK)
        return err_set(err, ERR_INPUT, "the body holds no id at \"%s\", which is signed", row->id);
    if (!header_value_ok(claim.id))
        return err_set(err, ERR_INPUT, "the event id holds a control character");
    sign_beside(row, &claim, out);
    text_fmt(out, "%s: ", row->header);
    if (row->time.from == TIME_ITEM)
        text_fmt(out, "%s%s%s%s", row->time.name, row->kv_sep, stamp, row->item_sep);
    if (!sign_item(row, secret->value, &claim, request->body, out) || !text_str(out, "\r\n") ||
            out->overflow)
        return err_set(err, ERR_INPUT,
                "can't sign as scheme \"%s\" does: its secret is not of the "
                "form that is needed, or the header is too long",
                row->name);
    return true;
}
