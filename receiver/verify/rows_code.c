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
                .inner = "/Message",
                .handshake = HANDSHAKE_SNS,
                .published = true,
                .verify = sns_verify,
                .said = {"the body's Signature",
                        "name and value of Message, MessageId, Subject, SubscribeURL, Timestamp, "
                        "Token, TopicArn and Type, as far as its kind has them, a line each",
                        "RSA, base64; SHA-1 or SHA-256 by SignatureVersion 1 or 2",
                        "the certificate at SigningCertURL, of sns.REGION.amazonaws.com and "
                        "trusted; TopicArn must be in the source's topics",
                        "none is bounded; Timestamp is the event's own"},
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
                .said = {"PAYPAL-TRANSMISSION-SIG",
                        "PAYPAL-TRANSMISSION-ID, \"|\", -TIME, \"|\", the webhook's id, \"|\", "
                        "CRC32 of the body in decimal",
                        "RSA with SHA-256, base64",
                        "the certificate at PAYPAL-CERT-URL, of api.paypal.com and trusted; the "
                        "secret is the webhook's id",
                        "header PAYPAL-TRANSMISSION-TIME, RFC 3339; at most 3 d old and 5 min "
                        "ahead"},
        },
        // https://plaid.com/docs/api/webhooks/webhook-verification/. There is no id at all,
        // and the next change of an item is told in the same bytes: a token counts once.
        {
                .name = "plaid",
                .kind = SCHEME_CODE,
                .id = "/webhook_type",
                .id_more = {"/webhook_code", "/item_id"},
                .id_digest = true,
                .id_each = true,
                .once = true,
                .type = "/webhook_type",
                .type_more = "/webhook_code",
                .scope = {"/environment"},
                .header = "Plaid-Verification",
                .time = {.name = "iat", .past_s = 300, .future_s = 60},
                .body_hash = "request_body_sha256",
                .encoding = ENCODING_HEX_LOWER,
                .published = true,
                .jwt = JWT_ES256,
                .verify = jwt_verify,
                .said = {"Plaid-Verification, a JWT",
                        "the token; its claim request_body_sha256 is the body's SHA-256 in hex",
                        "ES256, and no other whatever the token says",
                        "by its kid in the key set at the source's jwks, or in a secret's file",
                        "the token's iat; at most 5 min old and 1 min ahead"},
        },
        // RFC 7519, as Netlify, LiveKit, MessageBird and others use it; the policy says the rest.
        {
                .name = "jwt",
                .kind = SCHEME_CODE,
                .published = true,
                .verify = jwt_custom_verify,
                .said = {"a JWT in the header that the source's `token` names",
                        "the token; the claim that `token` names is the body's SHA-256",
                        "the one of HS256, RS256 and ES256 that `token` names",
                        "HS256: the secret; else by its kid in the key set at jwks, or in a "
                        "secret's file",
                        "the token's iat, exp and nbf; iat by the tolerance"},
        },
        // https://developer.vonage.com/en/getting-started/concepts/webhooks#decoding-signed-webhooks:
        // messages and their states. One message has several states under one id; what has no
        // answer comes again for a day.
        {
                .name = "vonage",
                .kind = SCHEME_CODE,
                .id = "/message_uuid",
                .id_digest = true,
                .type = "/status",
                .happened = "/timestamp",
                .header = "Authorization",
                .time = {.name = "iat", .past_s = IN_HOURS(24), .future_s = 300},
                .body_hash = "payload_hash",
                .encoding = ENCODING_HEX_LOWER,
                .jwt = JWT_HS256,
                .verify = jwt_verify,
                .said = {"Authorization, a JWT behind \"Bearer \"",
                        "the token; its claim payload_hash is the body's SHA-256 in hex",
                        "HS256, and no other whatever the token says",
                        "the account's signature secret, as it stands",
                        "the token's iat; at most 1 d old and 5 min ahead"},
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
                .said = {"x-shipengine-rsa-sha256-signature", "x-shipengine-timestamp, \".\", body",
                        "RSA with SHA-256, base64",
                        "by x-shipengine-rsa-sha256-key-id in the key set at the source's jwks, or "
                        "in a secret's file",
                        "header x-shipengine-timestamp, RFC 3339 or s; at most 5 min old and 5 "
                        "min ahead"},
        },
};

const struct scheme_table rows_code = SCHEME_TABLE(rows);
