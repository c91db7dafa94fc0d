// Schemes whose signature no row can say. Their rows say everything else of them; a row whose
// `verify` is NULL does not run.
#include "receiver/verify/jwt.h"
#include "receiver/verify/paypal.h"
#include "receiver/verify/rows.h"
#include "receiver/verify/sns.h"

static const struct scheme rows[] = {
        // https://docs.aws.amazon.com/sns/latest/dg/sns-verify-signature-of-message.html;
        // aws-js-sns-message-validator. The message stands in the body, which is text/plain.
        {
                .name = "aws-sns",
                .kind = SCHEME_CODE,
                .id = "/MessageId",
                .type = "/Type",
                .happened = "/Timestamp",
                .scope = {"/TopicArn"},
                .handshake = HANDSHAKE_SNS,
                .published = true,
                .verify = sns_verify,
        },
        // https://developer.paypal.com/api/rest/webhooks/rest/. A CRC32 binds the body: it can be
        // forged, so a transmission counts once and not for long.
        {
                .name = "paypal",
                .kind = SCHEME_CODE,
                .id = "/id",
                .type = "/event_type",
                .happened = "/create_time",
                .once = true,
                .verify = paypal_verify,
        },
        // https://plaid.com/docs/api/webhooks/webhook-verification/. There is no id at all.
        {
                .name = "plaid",
                .kind = SCHEME_CODE,
                .id = "/webhook_type",
                .id_more = {"/webhook_code", "/item_id"},
                .id_digest = true,
                .type = "/webhook_type",
                .type_more = "/webhook_code",
                .scope = {"/environment"},
                .header = "Plaid-Verification",
                .time = {.past_s = 300, .future_s = 60},
                .body_hash = "request_body_sha256",
                .encoding = ENCODING_HEX_LOWER,
                .published = true,
                .jwt = JWT_ES256,
                .verify = jwt_verify,
        },
        // https://www.shipengine.com/docs/webhooks/security/
        {
                .name = "shipengine",
                .kind = SCHEME_CODE,
                .id = "/resource_url",
                .id_more = {"/resource_type"},
                .id_digest = true,
                .type = "/resource_type",
                .header = "x-shipengine-rsa-sha256-signature",
                .time = {.past_s = 300, .future_s = 300},
                .published = true,
                .verify = shipengine_verify,
        },
};

const struct scheme_table rows_code = SCHEME_TABLE(rows);
