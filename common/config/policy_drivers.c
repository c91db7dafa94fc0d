#include "common/config/policy_drivers.h"

#define AT(type, member) offsetof(struct type, member)
#define LIST_IN(type, member)                                                                      \
    .shape = LIST, .offset = AT(type, member), .count_offset = AT(type, n_##member)
#define TABLE(keys_) .keys = (keys_), .n_keys = ARRAY_LEN(keys_)
#define NOT_SENT "this driver does not send"

static const struct schema_word tls_words[] = {
        {"starttls", TLS_STARTTLS}, {"implicit", TLS_IMPLICIT}, {"none", TLS_NONE}, {NULL, 0}};
static const struct schema_word email_drivers[] = {{"smtp", 0}, {"resend", 0}, {"postmark", 0},
        {"sendgrid", 0}, {"ses", 0}, {"mailgun", 0}, {"brevo", 0}, {NULL, 0}};
static const struct schema_word sms_drivers[] = {{"twilio", 0}, {"vonage", 0}, {"sinch", 0},
        {"telnyx", 0}, {"messagebird", 0}, {"http", 0}, {NULL, 0}};
static const struct schema_word push_drivers[] = {
        {"apns", 0}, {"fcm", 0}, {"webpush", 0}, {NULL, 0}};
static const struct schema_word method_words[] = {{"POST", 0}, {"PUT", 0}, {"GET", 0}, {NULL, 0}};

// clang-format off
#define DRIVER(words_) {.name = "driver", .type = S_WORD, .words = (words_), .required = true, .offset = AT(provider, driver_name), .about = "who takes the messages"}
#define DRIVER_LATER(words_) {.name = "driver", .type = S_WORD, .words = (words_), .required = true, .offset = AT(provider, driver_name), .later = NOT_SENT, .about = "who takes the messages"}
#define CHECKED(name_, type_, about_) {.name = (name_), .type = (type_), .required = true, .offset = NOWHERE, .later = NULL, .about = (about_)}
#define SECRET(name_, about_) {.name = (name_), .type = S_CREDENTIAL, .required = true, .offset = AT(provider, password.credential), .about = (about_)}
#define TOKEN SECRET("token", "its API token")
#define NEEDED(name_, member_, about_) {.name = (name_), .type = S_TEXT, .required = true, .offset = AT(provider, member_), .about = (about_)}
#define BASE {.name = "url", .type = S_WEB_URL, .offset = AT(provider, url), .about = "where its API is; default the provider's own"}
#define CA {.name = "ca", .type = S_TEXT, .offset = AT(provider, ca), .about = "file with the CA certificates; default the system's"}
#define PRIVATE {.name = "private", .type = S_BOOL, .offset = AT(provider, private_net), .fallback = "false", .about = "its address may be one of a private network"}
#define NAME {.name = "name", .type = S_IDENT, .offset = AT(provider, name), .about = "what it is called in figures, logs and commands; default the driver's name, a second of the same driver `smtp-2`"}
#define OWN_RATE {.name = "rate", .type = S_RATE, .offset = AT(provider, rate), .about = "this provider gets no more, over all dispatchers"}
#define CONCURRENCY {.name = "concurrency", .type = S_INT, .min = 1, .max = 10000, .offset = AT(provider, concurrency), .about = "tries at once in one dispatcher; default 100"}
#define SETTLE {.name = "settle", .type = S_SECONDS, .offset = AT(provider, settle_s), .min = 1, .max = 86400, .fallback = "5m", .about = "its search may be so far behind: what it does not find before says nothing"}
#define COMMON NAME, OWN_RATE, CONCURRENCY
#define CALLBACK {.name = "callback", .type = S_WEB_URL, .offset = AT(provider, callback), .about = "where it reports what became of a message: a source of this policy, as the provider reaches it"}

static const struct schema_key smtp_keys[] = {
        DRIVER(email_drivers),
        {.name = "url", .type = S_TEXT, .required = true, .offset = AT(provider, url), .about = "smtp://host:port or smtps://host:port"},
        {.name = "user", .type = S_TEXT, .offset = AT(provider, user), .about = "login name"},
        {.name = "password", .type = S_CREDENTIAL, .offset = AT(provider, password.credential), .about = "login secret"},
        {.name = "tls", .type = S_ENUM, .words = tls_words, .offset = AT(provider, tls), .about = "starttls, implicit or none; default: implicit for smtps://, else starttls, none for loopback"},
        {.name = "ca", .type = S_TEXT, .offset = AT(provider, ca), .about = "file with the CA certificates; default the system's"},
        COMMON,
};
static const struct schema_key http_email_keys[] = {DRIVER(email_drivers), TOKEN, BASE, CA, PRIVATE, COMMON};
static const struct schema_key postmark_keys[] = {DRIVER(email_drivers), TOKEN, BASE, SETTLE, CA, PRIVATE, COMMON};
static const struct schema_key ses_keys[] = {
        DRIVER(email_drivers), NEEDED("region", region, "AWS region, as eu-central-1"), NEEDED("access_key", account, "the access key's id"),
        SECRET("secret", "the access key's secret"),
        {.name = "session", .type = S_CREDENTIAL, .offset = AT(provider, session.credential), .about = "session token of temporary credentials"},
        {.name = "config_set", .type = S_TEXT, .offset = AT(provider, config_set), .about = "configuration set"},
        BASE, CA, PRIVATE, COMMON};
static const struct schema_key token_email_keys[] = {DRIVER_LATER(email_drivers), TOKEN, COMMON};
static const struct schema_key mailgun_keys[] = {DRIVER_LATER(email_drivers), TOKEN, CHECKED("domain", S_TEXT, "the sending domain"), COMMON};
static const struct schema_key twilio_keys[] = {DRIVER(sms_drivers), NEEDED("account", account, "the account's id"), TOKEN, BASE, CALLBACK, CA, PRIVATE, COMMON};
static const struct schema_key vonage_keys[] = {DRIVER(sms_drivers), NEEDED("application", account, "the application's id"), SECRET("key", "its private key"), BASE, CALLBACK, CA, PRIVATE, COMMON};
static const struct schema_key sinch_keys[] = {DRIVER(sms_drivers), NEEDED("plan", account, "the service plan's id"), TOKEN, BASE, CALLBACK, SETTLE, CA, PRIVATE, COMMON};
static const struct schema_key telnyx_keys[] = {DRIVER(sms_drivers), TOKEN, BASE, CALLBACK, CA, PRIVATE, COMMON};
static const struct schema_key messagebird_keys[] = {DRIVER_LATER(sms_drivers), TOKEN, COMMON};
static const struct schema_key apns_keys[] = {DRIVER(push_drivers), NEEDED("team", team, "team id"), NEEDED("key_id", key_id, "the key's id"), SECRET("key", "the signing key (.p8)"), NEEDED("topic", topic, "the app's bundle id"), BASE, CA, PRIVATE, COMMON};
static const struct schema_key fcm_keys[] = {DRIVER(push_drivers), NEEDED("project", project, "project id"), SECRET("key", "the service account (JSON)"), BASE, CA, PRIVATE, COMMON};
static const struct schema_key webpush_keys[] = {DRIVER(push_drivers), NEEDED("subject", subject, "mailto: or https: of who runs this"), SECRET("key", "the VAPID key"), CA, PRIVATE, COMMON};

static const struct schema_key pair_row = {.name = "value", .type = S_TEXT, .offset = AT(pair, value)};
static const struct schema header_schema = {.name = "header", .size = sizeof(struct pair), .shorthand = &pair_row, .name_type = S_HEADER, .name_offset = AT(pair, name)};
static const struct schema parameter_schema = {.name = "parameter", .size = sizeof(struct pair), .shorthand = &pair_row, .name_type = S_TEXT, .name_offset = AT(pair, name)};
static const struct schema_key gateway_keys[] = {
        {.name = "method", .type = S_WORD, .words = method_words, .offset = AT(gateway, method), .fallback = "POST", .about = "of the request"},
        {.name = "headers", .type = S_MAP, .of = &header_schema, .shape = MAP_OF, .offset = AT(gateway, headers), .count_offset = AT(gateway, n_headers), .about = "further headers"},
        {.name = "form", .type = S_MAP, .of = &parameter_schema, .shape = MAP_OF, .offset = AT(gateway, form), .count_offset = AT(gateway, n_form), .about = "the body, as a form"},
        {.name = "json", .type = S_TEXT, .offset = AT(gateway, json), .about = "or the body as JSON, placeholders inside its strings"},
        {.name = "success", .type = S_INT, .min = 200, .max = 299, LIST_IN(gateway, success), .about = "statuses that mean it was taken; default 200, 201 and 202"},
        {.name = "id", .type = S_POINTER, .offset = AT(gateway, id), .about = "where its own id of the message is in a JSON reply"},
};
static const struct schema gateway_schema = {.name = "request", .size = sizeof(struct gateway), TABLE(gateway_keys)};
static const struct schema_key http_keys[] = {
        DRIVER(sms_drivers),
        {.name = "url", .type = S_TEXT, .required = true, .offset = AT(provider, url), .about = "where it goes; this and the request's values hold {to} {from} {text} {key} {coding} {token}"},
        {.name = "token", .type = S_CREDENTIAL, .offset = AT(provider, password.credential), .about = "the secret that {token} stands for"},
        {.name = "request", .type = S_MAP, .of = &gateway_schema, .shape = BOXED, .offset = AT(provider, http), .about = "how it is asked and what its reply means"},
        CA,
        PRIVATE,
        COMMON,
};

#define PROVIDER(name_, keys_) static const struct schema name_ = {.name = "provider", .size = sizeof(struct provider), TABLE(keys_)}
PROVIDER(smtp_schema, smtp_keys);
PROVIDER(http_email_schema, http_email_keys);
PROVIDER(postmark_schema, postmark_keys);
PROVIDER(ses_schema, ses_keys);
PROVIDER(token_email_schema, token_email_keys);
PROVIDER(mailgun_schema, mailgun_keys);
PROVIDER(twilio_schema, twilio_keys);
PROVIDER(vonage_schema, vonage_keys);
PROVIDER(sinch_schema, sinch_keys);
PROVIDER(telnyx_schema, telnyx_keys);
PROVIDER(messagebird_schema, messagebird_keys);
PROVIDER(http_schema, http_keys);
PROVIDER(apns_schema, apns_keys);
PROVIDER(fcm_schema, fcm_keys);
PROVIDER(webpush_schema, webpush_keys);

static const struct schema_variant email_variants[] = {
        {"smtp", &smtp_schema}, {"resend", &http_email_schema}, {"postmark", &postmark_schema},
        {"sendgrid", &http_email_schema}, {"ses", &ses_schema}, {"mailgun", &mailgun_schema}, {"brevo", &token_email_schema}};
static const struct schema_variant sms_variants[] = {
        {"twilio", &twilio_schema}, {"vonage", &vonage_schema}, {"sinch", &sinch_schema}, {"telnyx", &telnyx_schema},
        {"messagebird", &messagebird_schema}, {"http", &http_schema}};
static const struct schema_variant push_variants[] = {
        {"apns", &apns_schema}, {"fcm", &fcm_schema}, {"webpush", &webpush_schema}};

static const struct schema_key email_driver_row[] = {DRIVER(email_drivers)};
static const struct schema_key sms_driver_row[] = {DRIVER(sms_drivers)};
static const struct schema_key push_driver_row[] = {DRIVER(push_drivers)};

#define PROVIDERS(name_, row_, variants_) \
    static const struct schema name_ = {.name = "provider", .size = sizeof(struct provider), TABLE(row_), \
            .variant_key = "driver", .variants = (variants_), .n_variants = ARRAY_LEN(variants_)}
PROVIDERS(email_provider_schema, email_driver_row, email_variants);
PROVIDERS(sms_provider_schema, sms_driver_row, sms_variants);
PROVIDERS(push_provider_schema, push_driver_row, push_variants);

#define RATE {.name = "rate", .type = S_RATE, .offset = AT(channel, rate), .about = "no more leave, over all dispatchers"}
#define PROVIDER_LIST(of_) {.name = "providers", .type = S_MAP, .of = (of_), LIST_IN(channel, providers), .required = true, .least = 1, .about = "tried in turn, the next only after a refusal that is the provider's own"}

static const struct schema_key email_keys[] = {
        {.name = "from", .type = S_MAILBOX, .required = true, .offset = AT(channel, from), .about = "the sender's mailbox"},
        RATE,
        PROVIDER_LIST(&email_provider_schema),
};
static const struct schema_key sms_keys[] = {
        {.name = "from", .type = S_SENDER, .required = true, .offset = AT(channel, from), .about = "the sender's number or name"},
        RATE,
        PROVIDER_LIST(&sms_provider_schema),
};
static const struct schema_key push_keys[] = {RATE, PROVIDER_LIST(&push_provider_schema)};
// clang-format on

const struct schema email_channel_schema = {
        .name = "channel", .size = sizeof(struct channel), TABLE(email_keys)};
const struct schema sms_channel_schema = {
        .name = "channel", .size = sizeof(struct channel), TABLE(sms_keys)};
const struct schema push_channel_schema = {
        .name = "channel", .size = sizeof(struct channel), TABLE(push_keys)};
