#include "common/config/policy_drivers.h"

#define AT(type, member) offsetof(struct type, member)
#define LIST_IN(type, member)                                                                      \
    .shape = LIST, .offset = AT(type, member), .count_offset = AT(type, n_##member)
#define TABLE(keys_) .keys = (keys_), .n_keys = ARRAY_LEN(keys_)
#define NOT_SENT "this driver does not send"

static const struct schema_word tls_words[] = {
        {"starttls", TLS_STARTTLS}, {"implicit", TLS_IMPLICIT}, {"none", TLS_NONE}, {NULL, 0}};
static const struct schema_word email_drivers[] = {{"smtp", 0}, {"resend", 0}, {"postmark", 0},
        {"sendgrid", 0}, {"mailgun", 0}, {"brevo", 0}, {NULL, 0}};
static const struct schema_word sms_drivers[] = {
        {"twilio", 0}, {"vonage", 0}, {"sinch", 0}, {"messagebird", 0}, {NULL, 0}};
static const struct schema_word push_drivers[] = {
        {"apns", 0}, {"fcm", 0}, {"webpush", 0}, {NULL, 0}};

// clang-format off
#define DRIVER(words_) {.name = "driver", .type = S_WORD, .words = (words_), .required = true, .offset = AT(provider, driver_name), .about = "who takes the messages"}
#define DRIVER_LATER(words_) {.name = "driver", .type = S_WORD, .words = (words_), .required = true, .offset = AT(provider, driver_name), .later = NOT_SENT, .about = "who takes the messages"}
#define CHECKED(name_, type_, about_) {.name = (name_), .type = (type_), .required = true, .offset = NOWHERE, .later = NULL, .about = (about_)}
#define TOKEN CHECKED("token", S_CREDENTIAL, "its API token")

static const struct schema_key smtp_keys[] = {
        DRIVER(email_drivers),
        {.name = "url", .type = S_TEXT, .required = true, .offset = AT(provider, url), .about = "smtp://host:port or smtps://host:port"},
        {.name = "user", .type = S_TEXT, .offset = AT(provider, user), .about = "login name"},
        {.name = "password", .type = S_CREDENTIAL, .offset = AT(provider, password.credential), .about = "login secret"},
        {.name = "tls", .type = S_ENUM, .words = tls_words, .offset = AT(provider, tls), .about = "starttls, implicit or none; default: implicit for smtps://, else starttls, none for loopback"},
        {.name = "ca", .type = S_TEXT, .offset = AT(provider, ca), .about = "file with the CA certificates; default the system's"},
};
static const struct schema_key token_email_keys[] = {DRIVER_LATER(email_drivers), TOKEN};
static const struct schema_key mailgun_keys[] = {DRIVER_LATER(email_drivers), TOKEN, CHECKED("domain", S_TEXT, "the sending domain")};
static const struct schema_key twilio_keys[] = {DRIVER_LATER(sms_drivers), CHECKED("account", S_TEXT, "the account's id"), TOKEN};
static const struct schema_key vonage_keys[] = {DRIVER_LATER(sms_drivers), CHECKED("application", S_TEXT, "the application's id"), CHECKED("key", S_CREDENTIAL, "its private key")};
static const struct schema_key sinch_keys[] = {DRIVER_LATER(sms_drivers), CHECKED("plan", S_TEXT, "the service plan's id"), TOKEN};
static const struct schema_key messagebird_keys[] = {DRIVER_LATER(sms_drivers), TOKEN};
static const struct schema_key apns_keys[] = {DRIVER_LATER(push_drivers), CHECKED("team", S_TEXT, "team id"), CHECKED("key_id", S_TEXT, "the key's id"), CHECKED("key", S_CREDENTIAL, "the signing key (.p8)"), CHECKED("topic", S_TEXT, "the app's bundle id")};
static const struct schema_key fcm_keys[] = {DRIVER_LATER(push_drivers), CHECKED("project", S_TEXT, "project id"), CHECKED("key", S_CREDENTIAL, "the service account (JSON)")};
static const struct schema_key webpush_keys[] = {DRIVER_LATER(push_drivers), CHECKED("subject", S_TEXT, "mailto: or https: of who runs this"), CHECKED("key", S_CREDENTIAL, "the VAPID key")};

#define PROVIDER(name_, keys_) static const struct schema name_ = {.name = "provider", .size = sizeof(struct provider), TABLE(keys_)}
PROVIDER(smtp_schema, smtp_keys);
PROVIDER(token_email_schema, token_email_keys);
PROVIDER(mailgun_schema, mailgun_keys);
PROVIDER(twilio_schema, twilio_keys);
PROVIDER(vonage_schema, vonage_keys);
PROVIDER(sinch_schema, sinch_keys);
PROVIDER(messagebird_schema, messagebird_keys);
PROVIDER(apns_schema, apns_keys);
PROVIDER(fcm_schema, fcm_keys);
PROVIDER(webpush_schema, webpush_keys);

static const struct schema_variant email_variants[] = {
        {"smtp", &smtp_schema}, {"resend", &token_email_schema}, {"postmark", &token_email_schema},
        {"sendgrid", &token_email_schema}, {"mailgun", &mailgun_schema}, {"brevo", &token_email_schema}};
static const struct schema_variant sms_variants[] = {
        {"twilio", &twilio_schema}, {"vonage", &vonage_schema}, {"sinch", &sinch_schema}, {"messagebird", &messagebird_schema}};
static const struct schema_variant push_variants[] = {
        {"apns", &apns_schema}, {"fcm", &fcm_schema}, {"webpush", &webpush_schema}};

static const struct schema_key email_driver_row[] = {DRIVER(email_drivers)};
static const struct schema_key sms_driver_row[] = {DRIVER_LATER(sms_drivers)};
static const struct schema_key push_driver_row[] = {DRIVER_LATER(push_drivers)};

#define PROVIDERS(name_, row_, variants_) \
    static const struct schema name_ = {.name = "provider", .size = sizeof(struct provider), TABLE(row_), \
            .variant_key = "driver", .variants = (variants_), .n_variants = ARRAY_LEN(variants_)}
PROVIDERS(email_provider_schema, email_driver_row, email_variants);
PROVIDERS(sms_provider_schema, sms_driver_row, sms_variants);
PROVIDERS(push_provider_schema, push_driver_row, push_variants);

#define RATE {.name = "rate", .type = S_RATE, .offset = AT(channel, rate), .later = "messages leave as fast as they are taken", .about = "no faster than this"}
#define PROVIDER_LIST(of_) {.name = "providers", .type = S_MAP, .of = (of_), LIST_IN(channel, providers), .required = true, .least = 1, .about = "tried in turn"}

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
