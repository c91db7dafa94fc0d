// HMAC over the body alone. None of these signs a time: what is remembered of an id is all that
// stops a replay, and where the id is not signed, of the body (docs/schemes.md).
#include "receiver/verify/rows.h"

static const struct scheme rows[] = {
        // https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries;
        // @octokit/webhooks-methods. The delivery's id and the event's name are not signed.
        {BODY("github", "X-Hub-Signature-256", "sha256=", HMAC_SHA256, ENCODING_HEX_LOWER),
                .id_header = "X-GitHub-Delivery", .type_header = "X-GitHub-Event",
                .type = "/action"},
        // https://shopify.dev/docs/apps/build/webhooks/subscribe/https; @shopify/shopify-api. Ids,
        // topic and shop are not signed. X-Shopify-Event-Id is shared by the topics of one change.
        {BODY("shopify", "X-Shopify-Hmac-Sha256", "", HMAC_SHA256, ENCODING_BASE64),
                .id_header = "X-Shopify-Webhook-Id", .type_header = "X-Shopify-Topic"},
        // https://docs.lemonsqueezy.com/help/webhooks/signing-requests. No id; the event's name
        // stands in the signed body too.
        {BODY("lemonsqueezy", "X-Signature", "", HMAC_SHA256, ENCODING_HEX_LOWER),
                .id = "/meta/event_name", .id_more = {"/data/id"}, .id_digest = true,
                .type = "/meta/event_name", .scope = {"/meta/test_mode"}},
        // https://razorpay.com/docs/webhooks/validate-test/; razorpay-node. The event's id is not
        // signed. After a change of the secret old events are still signed with the old one.
        {BODY("razorpay", "X-Razorpay-Signature", "", HMAC_SHA256, ENCODING_HEX_LOWER),
                .id_header = "x-razorpay-event-id", .type = "/event", .happened = "/created_at",
                .scope = {"/account_id"}},
        // https://docs.mollie.com/reference/webhooks-new (next-gen). The classic webhook names a
        // payment and signs nothing: it can't be told from a forgery, nor from another change.
        {BODY("mollie", "X-Mollie-Signature", "sha256=", HMAC_SHA256, ENCODING_HEX_LOWER),
                .id = "/id", .type = "/type", .happened = "/createdAt"},
        // https://docs.klarna.com/acquirer/klarna/webhooks/. Which secret is meant is said by
        // Klarna-Signing-Key-Id; all live ones are tried.
        {BODY("klarna", "Klarna-Signature", "", HMAC_SHA256, ENCODING_HEX),
                .id = "/metadata/event_id", .type = "/metadata/event_type",
                .happened = "/metadata/occurred_at"},
        // https://woocommerce.github.io/woocommerce-rest-api-docs/#webhooks. The delivery's id is
        // another one for each try, and not signed.
        {BODY("woocommerce", "X-WC-Webhook-Signature", "", HMAC_SHA256, ENCODING_BASE64),
                .id = "/id", .id_more = {"/date_modified_gmt"}, .id_digest = true,
                .type_header = "X-WC-Webhook-Topic"},
        // https://www.aftership.com/docs/tracking/webhook/webhook-signature
        {BODY("aftership", "aftership-hmac-sha256", "", HMAC_SHA256, ENCODING_BASE64),
                .id = "/event_id", .type = "/event"},
        // https://docs.easypost.com/docs/webhooks#hmac-validation; @easypost/api, which rewrites
        // whole weights before it compares: here the bytes count.
        {BODY("easypost", "X-Hmac-Signature", "hmac-sha256-hex=", HMAC_SHA256, ENCODING_HEX_LOWER),
                .key = SECRET_NFKD, .id = "/id", .type = "/description", .happened = "/created_at",
                .scope = {"/mode"},
                .volatiles = {"/status", "/pending_urls", "/completed_urls", "/updated_at"}},
        // https://linear.app/developers/webhooks#securing-webhooks; @linear/sdk. The time stands in
        // the signed body; Linear-Delivery is not signed.
        {BODY("linear", "Linear-Signature", "", HMAC_SHA256, ENCODING_HEX_LOWER),
                .time = {TIME_FIELD, "/webhookTimestamp", true, BOTH_WAYS(60)},
                .id_header = "Linear-Delivery", .type = "/type", .type_more = "/action",
                .happened = "/createdAt", .scope = {"/organizationId"},
                .volatiles = {"/webhookTimestamp"}},
        // https://developers.intercom.com/docs/webhooks/webhook-topics#signed-notifications
        {BODY("intercom", "X-Hub-Signature", "sha1=", HMAC_SHA1, ENCODING_HEX_LOWER), .id = "/id",
                .type = "/topic", .happened = "/created_at", .scope = {"/app_id"},
                .volatiles = {"/delivery_attempts", "/delivered_at", "/first_sent_at",
                        "/delivery_status"}},
        // https://support.atlassian.com/bitbucket-cloud/docs/manage-webhooks/. Neither the
        // request's id nor the event's key is signed.
        {BODY("bitbucket", "X-Hub-Signature", "sha256=", HMAC_SHA256, ENCODING_HEX_LOWER),
                .id_header = "X-Request-UUID", .type_header = "X-Event-Key"},
        // https://www.typeform.com/developers/webhooks/secure-your-webhooks/
        {BODY("typeform", "Typeform-Signature", "sha256=", HMAC_SHA256, ENCODING_BASE64),
                .id = "/event_id", .type = "/event_type"},
        // https://developers.docusign.com/platform/webhooks/connect/validate/. One header for each
        // of up to 100 keys.
        {BODY("docusign", "X-DocuSign-Signature-", "", HMAC_SHA256, ENCODING_BASE64),
                .from = SIGNATURE_NUMBERED, .id = "/data/envelopeId",
                .id_more = {"/event", "/generatedDateTime"}, .type = "/event",
                .happened = "/generatedDateTime", .scope = {"/data/accountId"},
                .volatiles = {"/retryCount"}},
        // https://developer.xero.com/documentation/guides/webhooks/configuring-your-server/. Its
        // intent to receive is a request without events that must get 200 or 401 by its signature.
        {BODY("xero", "x-xero-signature", "", HMAC_SHA256, ENCODING_BASE64), .batch = {"/events"},
                .id = "/tenantId",
                .id_more = {"/resourceId", "/eventCategory", "/eventType", "/eventDateUtc"},
                .type = "/eventCategory", .type_more = "/eventType", .happened = "/eventDateUtc",
                .answer = REPLY_EMPTY_200},
        // https://www.dropbox.com/developers/reference/webhooks. It only says: look again,
        // in the same bytes each time.
        {BODY("dropbox", "X-Dropbox-Signature", "", HMAC_SHA256, ENCODING_HEX_LOWER),
                .id_digest = true, .id_each = true, .type_fixed = "list_folder",
                .handshake = HANDSHAKE_DROPBOX},
        // https://developers.facebook.com/docs/graph-api/webhooks/getting-started. Meta escapes
        // what is not ASCII (\u00e9) and signs the escapes. One request has messages and statuses
        // of several; a change of another kind has neither, and is one event.
        {BODY("meta", "X-Hub-Signature-256", "sha256=", HMAC_SHA256, ENCODING_HEX_LOWER),
                .batch = {"/entry/*/changes/*/value/messages", "/entry/*/changes/*/value/statuses"},
                .id = "/id", .id_more = {"/status"}, .type_of_batch = true,
                .happened = "/timestamp", .scope = {"/object"}, .handshake = HANDSHAKE_META},
        // https://docs.cdp.coinbase.com/commerce/webhooks; coinbase-commerce-node. /id is of the
        // delivery, /event/id of the event.
        {BODY("coinbase-commerce", "X-CC-Webhook-Signature", "", HMAC_SHA256, ENCODING_HEX_LOWER),
                .id = "/event/id", .type = "/event/type", .happened = "/event/created_at",
                .volatiles = {"/id", "/attempt_number", "/scheduled_for"}},
        // https://www.checkout.com/docs/developer-resources/webhooks/manage-webhooks. It is known
        // to send bodies that are no JSON: those are authentic, and parked.
        {BODY("checkout-com", "Cko-Signature", "", HMAC_SHA256, ENCODING_HEX_LOWER), .id = "/id",
                .type = "/type", .happened = "/created_on"},
        // https://developer.gocardless.com/api-reference/#webhooks-signing; gocardless-nodejs,
        // which
        // compares bytes: the digits' case does not matter.
        {BODY("gocardless", "Webhook-Signature", "", HMAC_SHA256, ENCODING_HEX),
                .batch = {"/events"}, .id = "/id", .type = "/resource_type", .type_more = "/action",
                .happened = "/created_at", .refusal = REFUSE_498},
        // https://developers.line.biz/en/docs/messaging-api/verify-webhook-signature/;
        // @line/bot-sdk.
        {BODY("line", "x-line-signature", "", HMAC_SHA256, ENCODING_BASE64), .batch = {"/events"},
                .id = "/webhookEventId", .type = "/type", .happened = "/timestamp",
                .scope = {"/destination"}, .volatiles = {"/deliveryContext/isRedelivery"}},
        // https://vercel.com/docs/webhooks/webhooks-api#securing-webhooks
        {BODY("vercel", "x-vercel-signature", "", HMAC_SHA1, ENCODING_HEX_LOWER), .id = "/id",
                .type = "/type", .happened = "/createdAt"},
        // https://docs.x.com/x-api/webhooks/introduction. The members say what kind it is.
        {BODY("x", "X-Twitter-Webhooks-Signature", "sha256=", HMAC_SHA256, ENCODING_BASE64),
                .id_digest = true, .type_fixed = "account_activity", .scope = {"/for_user_id"},
                .handshake = HANDSHAKE_X},
        // https://developers.asana.com/docs/webhooks-guide. The secret comes in the handshake.
        {BODY("asana", "X-Hook-Signature", "", HMAC_SHA256, ENCODING_HEX_LOWER),
                .batch = {"/events"}, .id = "/resource/gid", .id_more = {"/action", "/created_at"},
                .id_digest = true, .type = "/resource/resource_type", .type_more = "/action",
                .happened = "/created_at", .handshake = HANDSHAKE_ASANA},
        // https://docs.sentry.io/organization/integrations/integration-platform/webhooks/. The
        // request's id is not signed.
        {BODY("sentry", "Sentry-Hook-Signature", "", HMAC_SHA256, ENCODING_HEX_LOWER),
                .id_header = "Request-ID", .type_header = "Sentry-Hook-Resource", .type = "/action",
                .scope = {"/installation/uuid"}},
        // https://developer.pagerduty.com/docs/verifying-webhook-signatures: one signature a live
        // secret.
        {BODY("pagerduty", "X-PagerDuty-Signature", "", HMAC_SHA256, ENCODING_HEX_LOWER),
                .item_sep = ",", .kv_sep = "=", .keys = {"v1"}, .id = "/event/id",
                .type = "/event/event_type", .happened = "/event/occurred_at"},
        // https://cal.com/docs/developing/guides/automation/webhooks
        {BODY("cal-com", "X-Cal-Signature-256", "", HMAC_SHA256, ENCODING_HEX_LOWER),
                .id = "/triggerEvent", .id_more = {"/createdAt", "/payload/uid"},
                .type = "/triggerEvent", .happened = "/createdAt"},
        // https://docs.attio.com/rest-api/guides/webhooks. Idempotency-Key is not signed.
        {BODY("attio", "Attio-Signature", "", HMAC_SHA256, ENCODING_HEX_LOWER),
                .batch = {"/events"}, .id_header = "Idempotency-Key", .type = "/event_type",
                .scope = {"/webhook_id"}},
        // https://developer.authorize.net/api/reference/features/webhooks.html
        {BODY("authorize-net", "X-ANET-Signature", "sha512=", HMAC_SHA512, ENCODING_HEX),
                .id = "/notificationId", .type = "/eventType", .happened = "/eventDate"},
        // https://docs.adyen.com/development-resources/webhooks/secure-webhooks/verify-hmac-signatures:
        // platforms and management; payments are `adyen`. @adyen/api-library.
        {BODY("adyen-platform", "HmacSignature", "", HMAC_SHA256, ENCODING_BASE64),
                .key = SECRET_HEX, .id = "/type", .id_more = {"/data/id", "/eventId", "/timestamp"},
                .id_digest = true, .type = "/type", .happened = "/timestamp",
                .scope = {"/environment"}},
};

const struct scheme_table rows_body = SCHEME_TABLE(rows);
