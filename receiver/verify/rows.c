#include "receiver/verify/rows.h"

#define LITERAL(text)                                                                              \
    {                                                                                              \
        PART_LITERAL,                                                                              \
        {                                                                                          \
            (const unsigned char *)(text), sizeof(text) - 1                                        \
        }                                                                                          \
    }
#define STANDARD_PARTS                                                                             \
    {                                                                                              \
        {.kind = PART_ID}, LITERAL("."), {.kind = PART_TIMESTAMP}, LITERAL("."),                   \
        {                                                                                          \
            .kind = PART_BODY                                                                      \
        }                                                                                          \
    }

// https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md;
// svix-libs javascript/src/webhook.ts. `start` begins the header names: svix sends either family.
// Versions that are not named are passed over. v1 is made with a shared secret (whsec_), v1a with a
// pair of keys (whpk_); the kind of the secret decides which of them it can prove.
#define STANDARD(name_, start)                                                                     \
    .name = name_, .kind = SCHEME_HMAC, .type = "/type", .happened = "/timestamp",                 \
    .id_header = start "-id", .header = start "-signature", .item_sep = " ", .kv_sep = ",",        \
    .prefix = "", .time = {TIME_HEADER, start "-timestamp", false, 300, 300},                      \
    .parts = STANDARD_PARTS, .algorithm = HMAC_SHA256, .encoding = ENCODING_BASE64,                \
    .key = SECRET_WHSEC, .ed25519 = "v1a"

// The second family of header names, reached by `also`.
static const struct scheme standard_by_svix = {
        STANDARD("standardwebhooks", "svix"), .keys = {"v1", "v1a"}};
static const struct scheme svix_by_webhook = {STANDARD("svix", "webhook"), .keys = {"v1", "v1a"}};
static const struct scheme pair_by_svix = {
        STANDARD("standardwebhooks-v1a", "svix"), .keys = {"v1a"}};

// The schemes that run. Facts: the provider's own documentation and library, named at each row.
static const struct scheme rows[] = {
        // https://docs.stripe.com/webhooks#verify-manually; stripe-node src/Webhooks.ts. The
        // library has no bound into the future; a clock that far off is refused here.
        {
                .name = "stripe",
                .kind = SCHEME_HMAC,
                .id = "/id",
                .type = "/type",
                .happened = "/created",
                .scope = {"/account", "/livemode"},
                .header = "Stripe-Signature",
                .item_sep = ",",
                .kv_sep = "=",
                .keys = {"v1"},
                .prefix = "",
                .time = {TIME_ITEM, "t", false, 300, 300},
                .parts = {{.kind = PART_TIMESTAMP}, LITERAL("."), {.kind = PART_BODY}},
                .algorithm = HMAC_SHA256,
                .encoding = ENCODING_HEX_LOWER,
                .key = SECRET_VERBATIM,
        },
        // https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries;
        // @octokit/webhooks-methods. The delivery's id and the event's name are not signed.
        {
                .name = "github",
                .kind = SCHEME_HMAC,
                .type = "/action",
                .id_header = "X-GitHub-Delivery",
                .type_header = "X-GitHub-Event",
                .header = "X-Hub-Signature-256",
                .prefix = "sha256=",
                .parts = {{.kind = PART_BODY}},
                .algorithm = HMAC_SHA256,
                .encoding = ENCODING_HEX_LOWER,
                .key = SECRET_VERBATIM,
        },
        // https://shopify.dev/docs/apps/build/webhooks/subscribe/https; @shopify/shopify-api. Ids,
        // topic and shop are not signed. X-Shopify-Event-Id is shared by the topics of one change.
        {
                .name = "shopify",
                .kind = SCHEME_HMAC,
                .id_header = "X-Shopify-Webhook-Id",
                .type_header = "X-Shopify-Topic",
                .header = "X-Shopify-Hmac-Sha256",
                .prefix = "",
                .parts = {{.kind = PART_BODY}},
                .algorithm = HMAC_SHA256,
                .encoding = ENCODING_BASE64,
                .key = SECRET_VERBATIM,
        },
        {STANDARD("standardwebhooks", "webhook"), .keys = {"v1", "v1a"}, .also = &standard_by_svix},
        {STANDARD("svix", "svix"), .keys = {"v1", "v1a"}, .also = &svix_by_webhook},
        {STANDARD("standardwebhooks-v1a", "webhook"), .keys = {"v1a"}, .also = &pair_by_svix},
        // https://api.slack.com/authentication/verifying-requests-from-slack; @slack/bolt, which
        // has no bound into the future.
        {
                .name = "slack",
                .kind = SCHEME_HMAC,
                .id = "/event_id",
                .type = "/event/type",
                .happened = "/event_time",
                .scope = {"/team_id"},
                .header = "X-Slack-Signature",
                .prefix = "v0=",
                .time = {TIME_HEADER, "X-Slack-Request-Timestamp", false, 300, 300},
                .parts = {LITERAL("v0:"), {.kind = PART_TIMESTAMP}, LITERAL(":"),
                        {.kind = PART_BODY}},
                .algorithm = HMAC_SHA256,
                .encoding = ENCODING_HEX_LOWER,
                .key = SECRET_VERBATIM,
        },
        // https://www.twilio.com/docs/usage/security#validating-requests; twilio-node
        // src/webhooks/webhooks.ts. I-Twilio-Idempotency-Token is not signed, and not used: a
        // message is in one status once.
        {
                .name = "twilio",
                .kind = SCHEME_HMAC,
                .id = "/MessageSid",
                .id_more = {"/MessageStatus"},
                .type = "/MessageStatus",
                .scope = {"/AccountSid"},
                .header = "X-Twilio-Signature",
                .prefix = "",
                .parts = {{.kind = PART_URL}, {.kind = PART_FORM}},
                .algorithm = HMAC_SHA1,
                .encoding = ENCODING_BASE64,
                .key = SECRET_VERBATIM,
                .body_hash = "bodySHA256",
        },
        {.name = "custom", .kind = SCHEME_CUSTOM},
        {.name = "app", .kind = SCHEME_BEARER, .type = "/type", .id_header = "Idempotency-Key"},
};

// Every name of the catalogue, whether it runs or not.
static const struct catalogue {
    const char *name;
    int64_t horizon_s;
} catalogue[] = {
#define SCHEME(name, horizon_s) {name, horizon_s},
#include "receiver/verify/catalogue.def"
#undef SCHEME
};

static const struct scheme *table_find(const struct scheme_table *table, const char *name)
{
    for (size_t i = 0; i < table->n; i++) {
        if (strcmp(table->rows[i].name, name) == 0)
            return &table->rows[i];
    }
    return NULL;
}

const struct scheme *scheme_row(const char *name)
{
    static const struct scheme_table mine = SCHEME_TABLE(rows);
    static const struct scheme_table *const tables[] = {&mine, &rows_code};
    const struct scheme *row = NULL;
    for (size_t i = 0; name && !row && i < ARRAY_LEN(tables); i++)
        row = table_find(tables[i], name);
    return row;
}

static const struct catalogue *catalogue_find(const char *name)
{
    for (size_t i = 0; name && i < ARRAY_LEN(catalogue); i++) {
        if (strcmp(catalogue[i].name, name) == 0)
            return &catalogue[i];
    }
    return NULL;
}

// A row of code without its code only says what is known of it.
static bool row_runs(const struct scheme *row)
{
    return row && (row->kind != SCHEME_CODE || row->verify);
}

bool scheme_known(const char *name, bool *ret_active)
{
    if (!catalogue_find(name))
        return false;
    if (ret_active)
        *ret_active = row_runs(scheme_row(name));
    return true;
}

const char *scheme_at(size_t i)
{
    return i < ARRAY_LEN(catalogue) ? catalogue[i].name : NULL;
}

int64_t scheme_horizon_s(const char *name)
{
    const struct catalogue *entry = catalogue_find(name);
    return entry ? entry->horizon_s : 0;
}

const struct scheme *scheme_of(const struct source *source)
{
    const struct scheme *row = scheme_row(source->scheme);
    struct scheme made;
    if (row && row->kind == SCHEME_CUSTOM && !custom_row(source, &made))
        return NULL;
    return row_runs(row) ? row : NULL;
}

bool scheme_is_app(const struct scheme *scheme)
{
    return scheme->kind == SCHEME_BEARER;
}

// The policy's own pointer goes first: a source may know better where things stand.
const char *scheme_id_pointer(const struct scheme *scheme, const struct source *source)
{
    return scheme->id_header ? NULL : source->id_ptr ? source->id_ptr : scheme->id;
}

const char *scheme_type_pointer(const struct scheme *scheme, const struct source *source)
{
    return source->type_ptr ? source->type_ptr : scheme->type;
}

const char *scheme_time_pointer(const struct scheme *scheme, const struct source *source)
{
    return source->time_ptr ? source->time_ptr : scheme->happened;
}

const char *const *scheme_scope_pointers(const struct scheme *scheme)
{
    return scheme->scope;
}

static bool has_part(const struct scheme *row, enum scheme_part_kind kind)
{
    for (size_t i = 0; row->parts[i].kind != PART_END; i++) {
        if (row->parts[i].kind == kind)
            return true;
    }
    return false;
}

bool scheme_signs_url(const char *name)
{
    const struct scheme *row = scheme_row(name);
    return row && has_part(row, PART_URL);
}

enum policy_keys scheme_keys(const char *name)
{
    const struct scheme *row = scheme_row(name);
    if (!row || !row->published)
        return KEYS_SECRETS;
    return row->handshake == HANDSHAKE_SNS ? KEYS_TOPICS : KEYS_SET;
}

bool scheme_id_unsigned(const struct scheme *scheme)
{
    if (scheme->once)
        return true;
    return scheme->kind == SCHEME_HMAC && scheme->id_header && !has_part(scheme, PART_ID);
}

const char *scheme_id_header(const struct scheme *scheme)
{
    return scheme->id_header;
}

const char *scheme_type_header(const struct scheme *scheme)
{
    return scheme->type_header;
}

const char *const *scheme_id_more(const struct scheme *scheme)
{
    return scheme->id_more;
}

bool scheme_id_digest(const struct scheme *scheme)
{
    return scheme->id_digest;
}

const char *const *scheme_batch(const struct scheme *scheme)
{
    return scheme->batch;
}

bool scheme_signs_inflated(const struct scheme *scheme, const struct source *source)
{
    return source->verify ? source->verify->inflated : scheme->inflated;
}

enum scheme_answer scheme_answer(const struct scheme *scheme)
{
    return scheme->answer;
}

enum scheme_refusal scheme_refusal(const struct scheme *scheme)
{
    return scheme->refusal;
}

enum scheme_handshake scheme_handshake(const struct scheme *scheme)
{
    return scheme->handshake;
}

const struct scheme *scheme_spoken(const struct scheme *row, const struct verify_request *request)
{
    struct slice value;
    bool speaks = !row->also || header_find(request, row->header, &value) != HEADER_NONE ||
                  header_find(request, row->also->header, &value) == HEADER_NONE;
    return speaks ? row : row->also;
}

bool scheme_sound(const struct scheme *row)
{
    bool body = has_part(row, PART_BODY), id = has_part(row, PART_ID);
    bool form = has_part(row, PART_FORM);
    if (!row->header || (!body && !form) || (id && !row->id_header && !row->id))
        return false;
    if (scheme_id_unsigned(row) && (!body || row->parts[1].kind != PART_END))
        return false;
    return has_part(row, PART_TIMESTAMP) == (row->time.from != TIME_NONE);
}
