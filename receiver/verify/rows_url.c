// HMAC over the URL that the provider was given, too: sources need `public_url`.
#include "receiver/verify/rows.h"

static const struct scheme rows[] = {
        // https://www.twilio.com/docs/usage/security#validating-requests; twilio-node
        // src/webhooks/webhooks.ts. I-Twilio-Idempotency-Token is not signed, and not used: a
        // message is in one status once.
        {
                .name = "twilio",
                .kind = SCHEME_HMAC,
                .header = "X-Twilio-Signature",
                .prefix = "",
                .parts = {PART(URL), PART(FORM)},
                .algorithm = HMAC_SHA1,
                .settings = "X-Twilio-Webhooks-Signature-Settings",
                .encoding = ENCODING_BASE64,
                .body_hash = "bodySHA256",
                .id = "/MessageSid",
                .id_more = {"/MessageStatus"},
                .type = "/MessageStatus",
                .scope = {"/AccountSid"},
        },
        // https://developer.squareup.com/docs/webhooks/step3validate; square-nodejs-sdk.
        {
                .name = "square",
                .kind = SCHEME_HMAC,
                .header = "x-square-hmacsha256-signature",
                .prefix = "",
                .parts = {PART(URL), PART(BODY)},
                .algorithm = HMAC_SHA256,
                .encoding = ENCODING_BASE64,
                .id = "/event_id",
                .type = "/type",
                .happened = "/created_at",
                .scope = {"/merchant_id"},
        },
        // https://developer.atlassian.com/cloud/trello/guides/rest-api/webhooks/
        {
                .name = "trello",
                .kind = SCHEME_HMAC,
                .header = "X-Trello-Webhook",
                .prefix = "",
                .parts = {PART(BODY), PART(URL)},
                .algorithm = HMAC_SHA1,
                .encoding = ENCODING_BASE64,
                .id = "/action/id",
                .type = "/action/type",
                .happened = "/action/date",
                .handshake = HANDSHAKE_TRELLO,
        },
        // https://developers.hubspot.com/docs/apps/developer-platform/build-apps/authentication/request-validation;
        // @hubspot/api-client. eventId alone is not promised to be unique.
        {
                .name = "hubspot",
                .kind = SCHEME_HMAC,
                .header = "X-HubSpot-Signature-v3",
                .prefix = "",
                .time = {TIME_HEADER, "X-HubSpot-Request-Timestamp", true, BOTH_WAYS(300)},
                .parts = {PART(METHOD), PART(URL), PART(BODY), PART(TIMESTAMP)},
                .decoded_url = true,
                .algorithm = HMAC_SHA256,
                .encoding = ENCODING_BASE64,
                .batch = {""},
                .id = "/eventId",
                .id_more = {"/subscriptionId", "/portalId", "/objectId", "/occurredAt"},
                .type = "/subscriptionType",
                .happened = "/occurredAt",
                .volatiles = {"/attemptNumber"},
        },
        // https://www.contentful.com/developers/docs/webhooks/request-verification/;
        // @contentful/node-apps-toolkit src/requests.
        {
                .name = "contentful",
                .kind = SCHEME_HMAC,
                .header = "x-contentful-signature",
                .prefix = "",
                .time = {TIME_HEADER, "x-contentful-timestamp", true, BOTH_WAYS(30)},
                .signed_headers = "x-contentful-signed-headers",
                .parts = {PART(METHOD), LITERAL("\n"), PART(PATH), LITERAL("\n"),
                        PART(SIGNED_HEADERS), LITERAL("\n"), PART(BODY)},
                .algorithm = HMAC_SHA256,
                .encoding = ENCODING_HEX_LOWER,
                .id = "/sys/id",
                .id_more = {"/sys/updatedAt"},
                .id_digest = true,
                .type_header = "X-Contentful-Topic",
                .happened = "/sys/updatedAt",
                .scope = {"/sys/space/sys/id", "/sys/environment/sys/id"},
        },
};

const struct scheme_table rows_url = SCHEME_TABLE(rows);
