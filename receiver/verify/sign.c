// Signs as the provider does: for `pawl trigger` and tests.
#include "common/clock.h"
#include "receiver/verify/claim.h"
#include "receiver/verify/key.h"
#include "receiver/verify/mac.h"

#include <stdio.h>

// The item's name and signature, e.g. "v1=<hex>".
static bool sign_item(const struct scheme *row, struct slice secret, const struct claim *claim,
        const struct verify_request *request, struct text *out)
{
    AUTO_SIGN_KEY struct sign_key key;
    key.pkey = NULL;
    unsigned char digest[SCHEME_DIGEST_MAX];
    struct signed_bytes made = claim_bytes(row, claim, request, 0);
    if (!sign_key_make(row, row->algorithm, secret, request->now_s, &key))
        return false;
    bool pair = key.kind == SIGN_KEY_PRIVATE;
    if (!pair && (key.kind != SIGN_KEY_SHARED ||
                         (row->ed25519 && strcmp(row->keys[0], row->ed25519) == 0)))
        return false;
    if (!(pair ? ed25519_sign(key.bytes, made.pieces, made.n, digest)
               : mac_of(row->algorithm, key.bytes, made.pieces, made.n, digest)))
        return false;
    if (row->kv_sep)
        text_fmt(out, "%s%s", pair && row->ed25519 ? row->ed25519 : row->keys[0], row->kv_sep);
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

// What of a request is not known here, or would have to be written into the body.
static const char *not_signed_here(const struct scheme *row)
{
    if (scheme_has_part(row, PART_FORM))
        return "a form";
    if (row->from == SIGNATURE_FIELD || row->time.from == TIME_FIELD ||
            scheme_has_part(row, PART_FIELD))
        return "inside of the body";
    if (scheme_has_part(row, PART_HEADER) || scheme_has_part(row, PART_SIGNED_HEADERS))
        return "other headers";
    return NULL;
}

static void stamp_time(const struct scheme *row, int64_t now_s, char out[32])
{
    if (row->iso_time)
        clock_rfc3339(now_s * 1000000, out);
    else
        snprintf(out, 32, "%lld", (long long)(row->time.milliseconds ? now_s * 1000 : now_s));
}

static void begin_header(const struct scheme *row, const char *stamp, struct text *out)
{
    text_fmt(out, "%s%s: ", row->header, row->from == SIGNATURE_NUMBERED ? "1" : "");
    if (row->time.from == TIME_ITEM)
        text_fmt(out, "%s%s%s%s", row->time.name, row->kv_sep, stamp, row->item_sep);
    if (row->time.from == TIME_FIRST)
        text_fmt(out, "%s%s", stamp, row->item_sep);
}

bool engine_sign(const struct scheme *row, const struct source *source,
        const struct verify_request *request, struct slice event_id, struct text *out,
        struct err *err)
{
    const char *unknown = not_signed_here(row);
    if (unknown)
        return err_set(err, ERR_INPUT, "scheme \"%s\" signs %s, which is not done here", row->name,
                unknown);
    char stamp[32];
    stamp_time(row, request->now_s, stamp);
    AUTO_CLAIM struct claim claim = {.id = event_id, .timestamp = slice_of(stamp)};
    if (!row->id_header && claim_read_id(row, request, &claim) != VERIFY_OK)
        return err_set(err, ERR_INPUT, "the body holds no id at \"%s\", which is signed", row->id);
    if (!header_value_ok(claim.id))
        return err_set(err, ERR_INPUT, "the event id holds a control character");
    if (claim_make_parts(row, source, request, &claim) != VERIFY_OK)
        return err_set(err, ERR_INPUT,
                "scheme \"%s\" signs the URL: source \"%s\" has no public_url", row->name,
                source->name);
    const struct secret *secret = secret_first_live(source, request->now_s);
    sign_beside(row, &claim, out);
    begin_header(row, stamp, out);
    if (!secret || !sign_item(row, secret->value, &claim, request, out) || !text_str(out, "\r\n") ||
            out->overflow)
        return err_set(err, ERR_INPUT,
                "can't sign as scheme \"%s\" does: its secret is not of the "
                "form that is needed, or the header is too long",
                row->name);
    return true;
}
