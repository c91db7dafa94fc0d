// HMAC over a time and the body: in a list of the signature's own header, or in headers of their
// own. Providers whose library has no bound into the future get one here all the same.
#include "receiver/verify/rows.h"

// "t=123,v1=hex" over "123.BODY".
#define LIST(name_, header_, between, time_key, key_, dot)                                         \
    .name = name_, .kind = SCHEME_HMAC, .header = header_, .item_sep = between, .kv_sep = "=",     \
    .keys = {key_}, .prefix = "", .parts = {PART(TIMESTAMP), LITERAL(dot), PART(BODY)},            \
    .algorithm = HMAC_SHA256, .encoding = ENCODING_HEX_LOWER
// "v0=hex" over "v0:123:BODY", the time in a header of its own.
#define VERSIONED(name_, header_, prefix_)                                                         \
    .name = name_, .kind = SCHEME_HMAC, .header = header_, .prefix = prefix_,                      \
    .parts = {LITERAL("v0:"), PART(TIMESTAMP), LITERAL(":"), PART(BODY)},                          \
    .algorithm = HMAC_SHA256, .encoding = ENCODING_HEX_LOWER

static const struct scheme rows[] = {
        // https://docs.stripe.com/webhooks#verify-manually; stripe-node src/Webhooks.ts.
        {LIST("stripe", "Stripe-Signature", ",", "t", "v1", "."),
                .time = {TIME_ITEM, "t", false, BOTH_WAYS(300)}, .id = "/id", .type = "/type",
                .happened = "/created", .scope = {"/account", "/livemode"},
                .volatiles = {"/pending_webhooks"}},
        // https://developer.paddle.com/webhooks/signature-verification; @paddle/paddle-node-sdk,
        // which takes the last h1 alone: during a rotation either may be ours.
        {LIST("paddle", "Paddle-Signature", ";", "ts", "h1", ":"),
                .time = {TIME_ITEM, "ts", false, BOTH_WAYS(5)}, .id = "/event_id",
                .type = "/event_type", .happened = "/occurred_at"},
        // https://developer.calendly.com/api-docs/webhook-signatures: three minutes are advised.
        {LIST("calendly", "Calendly-Webhook-Signature", ",", "t", "v1", "."),
                .time = {TIME_ITEM, "t", false, BOTH_WAYS(180)}, .id = "/payload/uri",
                .id_more = {"/event", "/created_at"}, .type = "/event", .happened = "/created_at"},
        // https://www.mux.com/docs/core/verify-webhook-signatures; @mux/mux-node.
        {LIST("mux", "Mux-Signature", ",", "t", "v1", "."),
                .time = {TIME_ITEM, "t", false, BOTH_WAYS(300)}, .id = "/id", .type = "/type",
                .happened = "/created_at", .scope = {"/environment/id"},
                .volatiles = {"/attempts"}},
        // https://workos.com/docs/events/data-syncing/webhooks; @workos-inc/node, which signs what
        // it has parsed and written again: here the bytes count. It does not mind the blank behind
        // the comma.
        {LIST("workos", "WorkOS-Signature", ",", "t", "v1", "."), .spaced = true,
                .time = {TIME_ITEM, "t", true, BOTH_WAYS(180)}, .id = "/id", .type = "/event",
                .happened = "/created_at"},
        // https://elevenlabs.io/docs/product-guides/administration/webhooks: 30 minutes.
        {LIST("elevenlabs", "ElevenLabs-Signature", ",", "t", "v0", "."),
                .time = {TIME_ITEM, "t", false, IN_MINUTES(30), 300}, .id = "/type",
                .id_more = {"/event_timestamp", "/data/conversation_id"}, .id_digest = true,
                .type = "/type", .happened = "/event_timestamp"},
        // https://docs.recurly.com/recurly-subscriptions/docs/signature-verification: the time in
        // milliseconds, then one signature or two. Its id, in recurly-notification-id, is not
        // signed, but the time is.
        {
                .name = "recurly",
                .kind = SCHEME_HMAC,
                .header = "recurly-signature",
                .item_sep = ",",
                .prefix = "",
                .time = {TIME_FIRST, NULL, true, BOTH_WAYS(300)},
                .parts = {PART(TIMESTAMP), LITERAL("."), PART(BODY)},
                .algorithm = HMAC_SHA256,
                .encoding = ENCODING_HEX_LOWER,
                .id = "/id",
                .id_more = {"/event_type", "/event_time"},
                .id_digest = true,
                .type = "/object_type",
                .type_more = "/event_type",
                .happened = "/event_time",
                .scope = {"/site_id"},
        },
        // https://api.slack.com/authentication/verifying-requests-from-slack; @slack/bolt.
        {VERSIONED("slack", "X-Slack-Signature", "v0="),
                .time = {TIME_HEADER, "X-Slack-Request-Timestamp", false, BOTH_WAYS(300)},
                .id = "/event_id", .type = "/event/type", .happened = "/event_time",
                .scope = {"/team_id"}, .handshake = HANDSHAKE_SLACK},
        // https://developers.zoom.us/docs/api/webhooks/#verify-with-zooms-header
        {VERSIONED("zoom", "x-zm-signature", "v0="),
                .time = {TIME_HEADER, "x-zm-request-timestamp", false, BOTH_WAYS(300)},
                .id = "/event", .id_more = {"/payload/object/uuid", "/event_ts"}, .type = "/event",
                .happened = "/event_ts", .scope = {"/payload/account_id"},
                .handshake = HANDSHAKE_ZOOM},
        // https://docs.customer.io/journeys/webhooks/#securely-verify-requests
        {VERSIONED("customerio", "X-CIO-Signature", ""),
                .time = {TIME_HEADER, "X-CIO-Timestamp", false, BOTH_WAYS(300)}, .id = "/event_id",
                .type = "/object_type", .type_more = "/metric", .happened = "/timestamp"},
        // https://developers.sinch.com/docs/sms/api-reference/sms/tag/Webhooks/; @sinch/sdk-core:
        // delivery reports of text messages, signed where the account's manager was asked for it.
        // The last try comes 22 h 45 min later, and nothing says that it is signed anew.
        {
                .name = "sinch",
                .kind = SCHEME_HMAC,
                .header = "x-sinch-webhook-signature",
                .prefix = "",
                .time = {TIME_HEADER, "x-sinch-webhook-signature-timestamp", false, IN_HOURS(24),
                        300},
                .parts = {PART(BODY), LITERAL("."),
                        TEXT_PART(PART_HEADER, "x-sinch-webhook-signature-nonce"), LITERAL("."),
                        PART(TIMESTAMP)},
                .algorithm = HMAC_SHA256,
                .encoding = ENCODING_BASE64,
                .id = "/batch_id",
                .id_more = {"/recipient", "/status", "/code"},
                .type = "/status",
                .happened = "/at",
        },
        // https://developer.zendesk.com/documentation/webhooks/verifying/. Its library has no
        // bound; three tries are made within minutes.
        {
                .name = "zendesk",
                .kind = SCHEME_HMAC,
                .header = "X-Zendesk-Webhook-Signature",
                .prefix = "",
                .time = {TIME_HEADER, "X-Zendesk-Webhook-Signature-Timestamp", false, IN_HOURS(1),
                        300},
                .iso_time = true,
                .parts = {PART(TIMESTAMP), PART(BODY)},
                .algorithm = HMAC_SHA256,
                .encoding = ENCODING_BASE64,
                .id = "/id",
                .type = "/type",
                .happened = "/time",
                .scope = {"/account_id"},
        },
        // https://developer.close.com/topics/webhooks/#webhook-signatures
        {
                .name = "close",
                .kind = SCHEME_HMAC,
                .header = "close-sig-hash",
                .prefix = "",
                .time = {TIME_HEADER, "close-sig-timestamp", false, BOTH_WAYS(300)},
                .parts = {PART(TIMESTAMP), PART(BODY)},
                .algorithm = HMAC_SHA256,
                .encoding = ENCODING_HEX_LOWER,
                .key = SECRET_HEX,
                .id = "/event/id",
                .type = "/event/object_type",
                .type_more = "/event/action",
                .happened = "/event/date_created",
        },
        // https://developer.box.com/guides/webhooks/v2/signatures-v2/: two keys, so that one can
        // be changed; a request that is older than ten minutes is to be refused.
        {
                .name = "box",
                .kind = SCHEME_HMAC,
                .header = "BOX-SIGNATURE-PRIMARY",
                .header_second = "BOX-SIGNATURE-SECONDARY",
                .prefix = "",
                .time = {TIME_HEADER, "BOX-DELIVERY-TIMESTAMP", false, IN_MINUTES(10), 300},
                .iso_time = true,
                .parts = {PART(BODY), PART(TIMESTAMP)},
                .algorithm = HMAC_SHA256,
                .encoding = ENCODING_BASE64,
                .id = "/id",
                .type = "/trigger",
                .happened = "/created_at",
        },
};

const struct scheme_table rows_timed = SCHEME_TABLE(rows);
