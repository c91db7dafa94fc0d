// Signatures by a private key that only the provider has: the source's secret is the public one.
#include "receiver/verify/rows.h"

static const struct scheme rows[] = {
        // https://discord.com/developers/docs/events/webhook-events#setting-up-an-endpoint;
        // discord-interactions. It probes with bad signatures and wants 401 for them. An event is
        // tried again for up to ten minutes.
        {
                .name = "discord",
                .kind = SCHEME_HMAC,
                .header = "X-Signature-Ed25519",
                .prefix = "",
                .time = {TIME_HEADER, "X-Signature-Timestamp", false, IN_MINUTES(15), 300},
                .parts = {PART(TIMESTAMP), PART(BODY)},
                .algorithm = SIGN_ED25519,
                .encoding = ENCODING_HEX,
                .key = SECRET_HEX,
                .id = "/event/type",
                .id_more = {"/event/timestamp"},
                .id_digest = true,
                .type = "/event/type",
                .happened = "/event/timestamp",
                .scope = {"/application_id"},
                .answer = REPLY_NO_CONTENT_204,
                .handshake = HANDSHAKE_DISCORD,
        },
        // https://developers.telnyx.com/docs/messaging/messages/receiving-webhooks; telnyx-node.
        {
                .name = "telnyx",
                .kind = SCHEME_HMAC,
                .header = "telnyx-signature-ed25519",
                .prefix = "",
                .time = {TIME_HEADER, "telnyx-timestamp", false, BOTH_WAYS(300)},
                .parts = {PART(TIMESTAMP), LITERAL("|"), PART(BODY)},
                .algorithm = SIGN_ED25519,
                .encoding = ENCODING_BASE64,
                .key = SECRET_BASE64,
                .id = "/data/id",
                .type = "/data/event_type",
                .happened = "/data/occurred_at",
                .volatiles = {"/meta/attempt", "/meta/delivered_to"},
        },
        // https://www.twilio.com/docs/sendgrid/for-developers/tracking-events/getting-started-event-webhook-security-features;
        // @sendgrid/eventwebhook. Its library has no bound, and events come again for a day and
        // more: their ids are signed and remembered.
        {
                .name = "sendgrid",
                .kind = SCHEME_HMAC,
                .header = "X-Twilio-Email-Event-Webhook-Signature",
                .prefix = "",
                .time = {TIME_HEADER, "X-Twilio-Email-Event-Webhook-Timestamp", false, IN_HOURS(48),
                        300},
                .parts = {PART(TIMESTAMP), PART(BODY)},
                .algorithm = SIGN_ECDSA_P256,
                .encoding = ENCODING_BASE64,
                .key = SECRET_PEM,
                .batch = {""},
                .id = "/sg_event_id",
                .type = "/event",
                .happened = "/timestamp",
        },
        // https://docs.wise.com/guides/developer/webhooks/event-handling. The delivery's id is not
        // signed.
        {
                .name = "wise",
                .kind = SCHEME_HMAC,
                .header = "X-Signature-SHA256",
                .prefix = "",
                .parts = {PART(BODY)},
                .algorithm = SIGN_RSA_SHA256,
                .encoding = ENCODING_BASE64,
                .key = SECRET_PEM,
                .id_header = "X-Delivery-Id",
                .type = "/event_type",
                .happened = "/sent_at",
                .scope = {"/subscription_id"},
        },
};

const struct scheme_table rows_public = SCHEME_TABLE(rows);
