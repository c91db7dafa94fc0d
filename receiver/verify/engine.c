#include "receiver/verify/claim.h"
#include "receiver/verify/mac.h"

#include <openssl/crypto.h>

enum { KEY_MAX = 512 }; // bytes of a secret that is stored encoded

// The bytes the digests are made with. Only an encoded secret needs the room.
struct mac_key {
    struct slice bytes;
    unsigned char room[KEY_MAX];
};

static void mac_key_fini(struct mac_key *key)
{
    OPENSSL_cleanse(key->room, sizeof key->room);
}
#define AUTO_MAC_KEY __attribute__((cleanup(mac_key_fini)))

static bool mac_key_make(const struct scheme *row, struct slice secret, struct mac_key *key)
{
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
    case PART_LITERAL:
    case PART_END:
        break;
    }
    return part->literal;
}

static bool digest_of(const struct scheme *row, struct slice secret, const struct claim *claim,
        struct slice body, unsigned char out[SCHEME_DIGEST_MAX])
{
    AUTO_MAC_KEY struct mac_key key = {.bytes = {NULL, 0}};
    if (!mac_key_make(row, secret, &key))
        return false;
    struct slice pieces[SCHEME_PARTS_MAX];
    size_t n = 0;
    for (; row->parts[n].kind != PART_END; n++)
        pieces[n] = piece_of(&row->parts[n], claim, body);
    return mac_of(row->algorithm, key.bytes, pieces, n, out);
}

// The candidates as digests; one that does not decode to a whole digest is dropped.
struct candidates {
    unsigned char digest[SCHEME_CANDIDATES_MAX][SCHEME_DIGEST_MAX];
    size_t n;
};

static void candidates_read(
        const struct scheme *row, const struct claim *claim, struct candidates *candidates)
{
    for (size_t i = 0; i < claim->n_signatures; i++) {
        if (encoding_decode(row->encoding, claim->signatures[i], candidates->digest[candidates->n],
                    mac_size(row->algorithm)))
            candidates->n++;
    }
}

// Whole digests in constant time, and never stopping at the first that is equal.
static bool any_equal(const struct candidates *candidates, const unsigned char *digest, size_t len)
{
    unsigned equal = 0;
    for (size_t i = 0; i < candidates->n; i++)
        equal |= (unsigned)(CRYPTO_memcmp(candidates->digest[i], digest, len) == 0);
    return equal != 0;
}

// The first live secret that made one of the candidates; -1 = none. All are tried in any case, so
// that the time taken does not say which one it was.
static int matching_secret(const struct scheme *row, const struct source *source,
        const struct claim *claim, const struct verify_request *request)
{
    struct candidates candidates = {.n = 0};
    candidates_read(row, claim, &candidates);
    int match = -1;
    for (size_t i = 0; i < source->n_secrets; i++) {
        unsigned char digest[SCHEME_DIGEST_MAX];
        if (!secret_is_live(&source->secrets[i], request->now_s) ||
                !digest_of(row, source->secrets[i].value, claim, request->body, digest))
            continue;
        if (any_equal(&candidates, digest, mac_size(row->algorithm)) && match < 0)
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

struct verify_result engine_verify(
        const struct scheme *row, const struct source *source, const struct verify_request *request)
{
    AUTO_CLAIM struct claim claim = {.n_signatures = 0};
    enum verify_reason reason = claim_read(row, request, &claim);
    if (reason != VERIFY_OK)
        return (struct verify_result){reason, -1};
    int match = matching_secret(row, source, &claim, request);
    if (match < 0)
        return (struct verify_result){VERIFY_NO_MATCH, -1};
    // Behind the digest, so that "too old" is only said of what the provider did sign.
    return (struct verify_result){judge_time(row, &claim, request->now_s), match};
}

static bool sign_digest(const struct scheme *row, const struct secret *secret,
        const struct claim *claim, struct slice body, struct text *out)
{
    unsigned char digest[SCHEME_DIGEST_MAX];
    return digest_of(row, secret->value, claim, body, digest) &&
           encoding_encode(row->encoding, (struct slice){digest, mac_size(row->algorithm)}, out);
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

bool engine_sign(const struct scheme *row, const struct secret *secret,
        const struct verify_request *request, struct slice event_id, struct text *out,
        struct err *err)
{
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
    if (row->kv_sep)
        text_fmt(out, "%s%s", row->keys[0], row->kv_sep);
    text_str(out, row->prefix);
    if (!sign_digest(row, secret, &claim, request->body, out) || !text_str(out, "\r\n") ||
            out->overflow)
        return err_set(err, ERR_INPUT,
                "can't sign as scheme \"%s\" does: its secret is not of the "
                "form that is needed, or the header is too long",
                row->name);
    return true;
}
