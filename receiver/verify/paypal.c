// https://developer.paypal.com/api/rest/webhooks/rest/: the signature is over
// "transmission id|transmission time|webhook id|crc32 of the body".
//
// A CRC32 is no digest: whoever saw one transmission can write another body of the same sum. So
// what was signed counts once (verify_result.once): a second body under it is a replay. And it
// counts for no longer than PayPal tries, which is less than such keys are kept.
#include "receiver/verify/paypal.h"

#include "common/keys.h"
#include "receiver/verify/cert_url.h"
#include "receiver/verify/claim.h"
#include "receiver/verify/keyed.h"
#include "receiver/verify/mac.h"
#include "receiver/verify/moment.h"

#include <zlib.h>

enum {
    PAYPAL_SIGNATURE_MAX = PUBKEY_RSA_BITS_MAX / 8,
    PAYPAL_ID_MAX = 128,
    PAYPAL_SIGNED_MAX = 1024,
    PAYPAL_PAST_S = 3 * 86400, // it tries for so long, with the time of the first try
    PAYPAL_FUTURE_S = 300,
};

struct transmission {
    struct slice id, time, cert_url, algorithm, sig;
    int64_t at_s;
    unsigned char signature[PAYPAL_SIGNATURE_MAX];
    size_t signature_len;
};

// No '|': it stands between the signed parts.
static bool id_ok(struct slice id)
{
    for (size_t i = 0; i < id.len; i++) {
        unsigned char c = id.ptr[i];
        bool plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        if (!plain && c != '-' && c != '_')
            return false;
    }
    return id.len && id.len <= PAYPAL_ID_MAX;
}

static enum verify_reason read_headers(
        const struct verify_request *request, struct transmission *sent)
{
    const struct {
        const char *name;
        struct slice *value;
        enum verify_reason absent;
    } headers[] = {{"PAYPAL-TRANSMISSION-SIG", &sent->sig, VERIFY_NO_HEADER},
            {"PAYPAL-TRANSMISSION-ID", &sent->id, VERIFY_NO_HEADER},
            {"PAYPAL-TRANSMISSION-TIME", &sent->time, VERIFY_NO_TIME},
            {"PAYPAL-CERT-URL", &sent->cert_url, VERIFY_NO_HEADER},
            {"PAYPAL-AUTH-ALGO", &sent->algorithm, VERIFY_NO_HEADER}};
    for (size_t i = 0; i < ARRAY_LEN(headers); i++) {
        enum verify_reason reason =
                header_one(request, headers[i].name, headers[i].absent, headers[i].value);
        if (reason != VERIFY_OK)
            return reason;
    }
    return VERIFY_OK;
}

static enum verify_reason transmission_read(
        const struct verify_request *request, struct transmission *sent)
{
    enum verify_reason reason = read_headers(request, sent);
    if (reason != VERIFY_OK)
        return reason;
    if (!slice_eq(sent->algorithm, SLICE("SHA256withRSA")))
        return VERIFY_ALGORITHM;
    if (!cert_url_paypal(sent->cert_url))
        return VERIFY_CERT_URL;
    if (!id_ok(sent->id) || !encoding_decode_any(ENCODING_BASE64, sent->sig, sent->signature,
                                    sizeof sent->signature, &sent->signature_len))
        return VERIFY_BAD_HEADER;
    return moment_read(sent->time, &sent->at_s) ? VERIFY_OK : VERIFY_BAD_TIME;
}

static uint32_t crc32_of(struct slice body)
{
    return (uint32_t)crc32_z(crc32_z(0, NULL, 0), body.ptr, body.len);
}

static void make_signed_text(
        const struct transmission *sent, struct slice webhook, struct slice body, struct text *out)
{
    text_init(out, PAYPAL_SIGNED_MAX);
    const struct slice parts[] = {sent->id, sent->time, webhook};
    for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
        text_add(out, parts[i]);
        text_char(out, '|');
    }
    text_fmt(out, "%u", crc32_of(body));
}

static enum verify_reason try_webhook(const struct transmission *sent, const struct source *source,
        const struct verify_request *request, struct slice webhook, struct verify_result *result)
{
    AUTO_TEXT struct text text = {.max = 0};
    make_signed_text(sent, webhook, request->body, &text);
    if (text.overflow)
        return VERIFY_BAD_HEADER;
    struct slice piece = text_slice(&text);
    struct keyed keyed = {.algorithm = PK_RSA_SHA256,
            .pieces = &piece,
            .n_pieces = 1,
            .signature = {sent->signature, sent->signature_len},
            .query = {.kind = KEY_CERTIFICATE,
                    .source = source->name,
                    .url = sent->cert_url,
                    .domain = ".paypal.com",
                    .now_s = request->now_s}};
    int key_index = -1;
    enum verify_reason reason = keyed_verify(&keyed, source, request, &key_index);
    sha256_of(piece, result->once);
    return reason;
}

static enum verify_reason judge_time(int64_t at_s, int64_t now_s)
{
    if (now_s - at_s > PAYPAL_PAST_S)
        return VERIFY_TOO_OLD;
    return at_s - now_s > PAYPAL_FUTURE_S ? VERIFY_TOO_NEW : VERIFY_OK;
}

struct verify_result paypal_verify(
        const struct scheme *row, const struct source *source, const struct verify_request *request)
{
    struct transmission sent = {.at_s = 0};
    struct verify_result result = {.secret_index = -1};
    (void)row;
    result.reason = transmission_read(request, &sent);
    if (result.reason != VERIFY_OK)
        return result;
    result.reason = VERIFY_NO_SECRET;
    for (size_t i = 0; i < source->n_secrets; i++) {
        const struct secret *webhook = &source->secrets[i];
        if (keyed_is_key(webhook) || !secret_is_live(webhook, request->now_s))
            continue;
        result.reason = try_webhook(&sent, source, request, webhook->value, &result);
        if (result.reason == VERIFY_OK) {
            result.secret_index = (int)i;
            result.has_once = true;
            result.reason = judge_time(sent.at_s, request->now_s);
        }
        if (result.reason != VERIFY_NO_MATCH)
            break;
    }
    return result;
}
