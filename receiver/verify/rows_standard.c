// Standard Webhooks and those who follow it.
// https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md;
// svix-libs javascript/src/webhook.ts.
#include "receiver/verify/rows.h"

// `start` begins the header names: svix sends either family. Versions that are not named are passed
// over. v1 is made with a shared secret (whsec_), v1a with a pair of keys (whpk_); the kind of the
// secret decides which of them it can prove.
#define STANDARD(name_, start)                                                                     \
    .name = name_, .kind = SCHEME_HMAC, .id_header = start "-id", .header = start "-signature",    \
    .item_sep = " ", .kv_sep = ",", .prefix = "",                                                  \
    .time = {TIME_HEADER, start "-timestamp", false, BOTH_WAYS(300)},                              \
    .parts = {PART(ID), LITERAL("."), PART(TIMESTAMP), LITERAL("."), PART(BODY)},                  \
    .algorithm = HMAC_SHA256, .encoding = ENCODING_BASE64, .key = SECRET_WHSEC, .ed25519 = "v1a"
#define IN_BODY .type = "/type", .happened = "/timestamp"
#define BOTH .keys = {"v1", "v1a"}

// The second family of header names, reached by `also`.
static const struct scheme standard_by_svix = {STANDARD("standardwebhooks", "svix"), IN_BODY, BOTH};
static const struct scheme svix_by_webhook = {STANDARD("svix", "webhook"), IN_BODY, BOTH};
static const struct scheme pair_by_svix = {
        STANDARD("standardwebhooks-v1a", "svix"), IN_BODY, .keys = {"v1a"}};
static const struct scheme clerk_by_webhook = {STANDARD("clerk", "webhook"), IN_BODY, BOTH};
static const struct scheme resend_by_webhook = {
        STANDARD("resend", "webhook"), .type = "/type", .happened = "/created_at", BOTH};

static const struct scheme rows[] = {
        {STANDARD("standardwebhooks", "webhook"), IN_BODY, BOTH, .also = &standard_by_svix},
        {STANDARD("svix", "svix"), IN_BODY, BOTH, .also = &svix_by_webhook},
        {STANDARD("standardwebhooks-v1a", "webhook"), IN_BODY, .keys = {"v1a"},
                .also = &pair_by_svix},
        // https://platform.openai.com/docs/guides/webhooks; openai-node.
        {STANDARD("openai", "webhook"), BOTH, .type = "/type", .happened = "/created_at"},
        // https://docs.gitlab.com/user/project/integrations/webhooks/#signing-tokens. The older
        // secret token is `gitlab-token`.
        {STANDARD("gitlab", "webhook"), BOTH, .type_header = "X-Gitlab-Event",
                .scope = {"/project/id"}},
        // https://clerk.com/docs/webhooks/sync-data
        {STANDARD("clerk", "svix"), IN_BODY, BOTH, .also = &clerk_by_webhook},
        // https://resend.com/docs/dashboard/webhooks/verify-webhooks-requests
        {STANDARD("resend", "svix"), .type = "/type", .happened = "/created_at", BOTH,
                .also = &resend_by_webhook},
        // https://developer.brex.com/docs/webhooks/
        {STANDARD("brex", "webhook"), BOTH, .type = "/event_type"},
        // https://replicate.com/docs/topics/webhooks/verify-webhook. It says the prediction's
        // state.
        {STANDARD("replicate", "webhook"), BOTH, .type = "/status"},
        // https://render.com/docs/webhooks
        {STANDARD("render", "webhook"), IN_BODY, BOTH},
};

const struct scheme_table rows_standard = SCHEME_TABLE(rows);
