// HMAC over chosen values of the body: what is not among them is not to be trusted.
#include "receiver/verify/rows.h"

#define ITEM "/NotificationRequestItem"

static const struct scheme rows[] = {
        // https://docs.adyen.com/development-resources/webhooks/secure-webhooks/verify-hmac-signatures;
        // @adyen/api-library. Each item is signed by itself. Amount, states and references are
        // signed; reason, additionalData and the rest are not, nor is `live` of the whole. A shop
        // may have a colon in its own reference, and then what is signed could be cut elsewhere.
        {
                .name = "adyen",
                .kind = SCHEME_HMAC,
                .batch = {"/notificationItems"},
                .each = true,
                .from = SIGNATURE_FIELD,
                .header = ITEM "/additionalData/hmacSignature",
                .prefix = "",
                .parts = {FIELD(ITEM "/pspReference"), LITERAL(":"),
                        FIELD(ITEM "/originalReference"), LITERAL(":"),
                        FIELD(ITEM "/merchantAccountCode"), LITERAL(":"),
                        FIELD(ITEM "/merchantReference"), LITERAL(":"), FIELD(ITEM "/amount/value"),
                        LITERAL(":"), FIELD(ITEM "/amount/currency"), LITERAL(":"),
                        FIELD(ITEM "/eventCode"), LITERAL(":"), FIELD(ITEM "/success")},
                .loose = ITEM "/merchantReference",
                .algorithm = HMAC_SHA256,
                .encoding = ENCODING_BASE64,
                .key = SECRET_HEX,
                .id = ITEM "/pspReference",
                .id_more = {ITEM "/eventCode", ITEM "/success"},
                .type = ITEM "/eventCode",
                .happened = ITEM "/eventDate",
                .answer = REPLY_ACCEPTED_BODY,
        },
        // https://documentation.mailgun.com/docs/mailgun/user-manual/webhooks/securing-webhooks.
        // The payload is not signed at all: a token counts once, and not for long.
        {
                .name = "mailgun",
                .kind = SCHEME_HMAC,
                .from = SIGNATURE_FIELD,
                .header = "/signature/signature",
                .prefix = "",
                .time = {TIME_FIELD, "/signature/timestamp", false, BOTH_WAYS(300)},
                .parts = {PART(TIMESTAMP), FIELD("/signature/token")},
                .once = true,
                .algorithm = HMAC_SHA256,
                .encoding = ENCODING_HEX_LOWER,
                .id = "/event-data/id",
                .type = "/event-data/event",
                .happened = "/event-data/timestamp",
                .volatiles = {"/signature"},
        },
        // The same of a route, whose mails come as a form:
        // https://documentation.mailgun.com/docs/mailgun/user-manual/receive-forward-store
        {
                .name = "mailgun-routes",
                .kind = SCHEME_HMAC,
                .form = true,
                .from = SIGNATURE_FIELD,
                .header = "/signature",
                .prefix = "",
                .time = {TIME_FIELD, "/timestamp", false, BOTH_WAYS(300)},
                .parts = {PART(TIMESTAMP), FIELD("/token")},
                .once = true,
                .algorithm = HMAC_SHA256,
                .encoding = ENCODING_HEX_LOWER,
                .id = "/token",
                .type_fixed = "mail",
        },
        // https://developer.paypal.com/braintree/docs/guides/webhooks/parse; braintree-node. The
        // secret is the private key alone, and the signature's item is named by the public one.
        // The payload is base64 with line ends that are signed, of XML; it counts once, since the
        // form's other pairs are not signed.
        {
                .name = "braintree",
                .kind = SCHEME_HMAC,
                .form = true,
                .from = SIGNATURE_FIELD,
                .header = "/bt_signature",
                .item_sep = "&",
                .kv_sep = "|",
                .prefix = "",
                .parts = {FIELD("/bt_payload")},
                .lost_line_end = true,
                .once = true,
                .algorithm = HMAC_SHA1,
                .encoding = ENCODING_HEX_LOWER,
                .key = SECRET_SHA1,
                .inner = "/bt_payload",
                .inner_xml = true,
                .id_digest = true,
                .type = "/bt_payload/notification/kind",
                .happened = "/bt_payload/notification/timestamp",
                .handshake = HANDSHAKE_BRAINTREE,
        },
};

const struct scheme_table rows_fields = SCHEME_TABLE(rows);
