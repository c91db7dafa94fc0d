// Who sends a shared secret with each request, in place of a signature: whoever sees one request
// can make another, so it is for TLS alone. And what is nobody's: `custom`, `app`, `none`.
#include "receiver/verify/rows.h"

#define TOKEN(name_, where, header_)                                                               \
    .name = name_, .kind = SCHEME_TOKEN, .token = where, .header = header_, .prefix = ""

static const struct scheme rows[] = {
        // https://docs.gitlab.com/user/project/integrations/webhooks/: the older secret token.
        {TOKEN("gitlab-token", TOKEN_HEADER, "X-Gitlab-Token"), .id_header = "X-Gitlab-Event-UUID",
                .type_header = "X-Gitlab-Event", .scope = {"/project/id"}},
        // https://postmarkapp.com/developer/webhooks/webhooks-overview#protecting-your-webhook
        {TOKEN("postmark", TOKEN_BASIC, "Authorization"), .id = "/MessageID",
                .id_more = {"/RecordType", "/ID"}, .id_digest = true, .type = "/RecordType",
                .scope = {"/ServerID"}},
        // https://www.chargebee.com/docs/billing/2.0/site-configuration/webhook_settings
        {TOKEN("chargebee", TOKEN_BASIC, "Authorization"), .id = "/id", .type = "/event_type",
                .happened = "/occurred_at", .volatiles = {"/webhook_status", "/webhooks"}},
        // https://developer.bigcommerce.com/docs/integrations/webhooks: the header is one that its
        // owner sets on the hook: name it so.
        {TOKEN("bigcommerce", TOKEN_HEADER, "X-Webhook-Token"), .id = "/hash",
                .id_more = {"/created_at"}, .type = "/scope", .happened = "/created_at",
                .scope = {"/store_id"}},
        // https://docs.goshippo.com/docs/tracking/webhooks/: `?token=` behind the hook's URL. A
        // track has no object_id.
        {TOKEN("shippo", TOKEN_QUERY, "token"), .id = "/event", .id_more = {"/data/object_id"},
                .id_digest = true, .type = "/event", .scope = {"/test"}},
        // https://docs.mollie.com/reference/webhooks: the form says only which payment to look up,
        // in the same bytes each time, and `?token=` in the webhookUrl is all that proves it.
        {TOKEN("mollie-classic", TOKEN_QUERY, "token"), .id = "/id", .id_digest = true,
                .id_each = true, .type_fixed = "changed"},
        // https://learn.microsoft.com/en-us/graph/change-notifications-delivery-webhooks: each
        // notification names the clientState that its subscription was made with. That a drive
        // changed once more is said in the same bytes. A resource's name may be longer than an id.
        {TOKEN("ms-graph", TOKEN_MEMBER, "/clientState"), .batch = {"/value"},
                .id = "/subscriptionId", .id_more = {"/changeType"}, .id_digest = true,
                .id_each = true, .type = "/changeType", .handshake = HANDSHAKE_MS_GRAPH},
        // https://core.telegram.org/bots/api#setwebhook: secret_token.
        {TOKEN("telegram", TOKEN_HEADER, "X-Telegram-Bot-Api-Secret-Token"), .id = "/update_id",
                .type_fixed = "update"},
        // https://developer.okta.com/docs/concepts/event-hooks/: an authorization header of the
        // owner's choice.
        {TOKEN("okta", TOKEN_HEADER, "Authorization"), .batch = {"/data/events"}, .id = "/uuid",
                .type = "/eventType", .happened = "/published", .handshake = HANDSHAKE_OKTA},
        // https://opensource.adobe.com/acrobat-sign/acrobat_sign_events/: the client's id, which is
        // wanted back.
        {TOKEN("adobe-sign", TOKEN_HEADER, "X-AdobeSign-ClientId"), .id = "/webhookNotificationId",
                .type = "/event", .happened = "/eventDate", .answer = REPLY_CLIENT_ID,
                .handshake = HANDSHAKE_ADOBE},
        {.name = "custom", .kind = SCHEME_CUSTOM},
        {.name = "app", .kind = SCHEME_BEARER, .type = "/type", .id_header = "Idempotency-Key"},
        {.name = "none", .kind = SCHEME_NONE},
};

const struct scheme_table rows_token = SCHEME_TABLE(rows);
