// The table of pawl.yaml.
#include "common/config/host.h"
#include "common/config/schema.h"

#define AT(member) offsetof(struct host_config, member)
#define LIST_AT(section, member)                                                                   \
    .shape = LIST, .offset = AT(section member), .count_offset = AT(section n_##member)

static const struct schema_word log_formats[] = {{"json", 0}, {"text", 1}, {NULL, 0}};
static const struct schema_word log_levels[] = {
        {"error", 0}, {"warning", 1}, {"info", 2}, {"debug", 3}, {NULL, 0}};

// clang-format off
static const struct schema_key tls_keys[] = {
        {.name = "certificate", .type = S_TEXT, .required = true, .offset = NOWHERE, .about = "file with the certificate chain"},
        {.name = "key", .type = S_CREDENTIAL, .required = true, .offset = NOWHERE, .about = "its private key"},
};
static const struct schema tls_schema = {.name = "tls", .keys = tls_keys, .n_keys = ARRAY_LEN(tls_keys)};

static const struct schema_key fetch_keys[] = {
        {.name = "ca", .type = S_TEXT, .offset = AT(receiver.fetch.ca), .about = "file with the trusted CAs; default: the system's"},
        {.name = "connect", .type = S_DETOUR, LIST_AT(receiver.fetch., connect), .about = "where a host is reached instead of by DNS; such an address may be private"},
};
static const struct schema fetch_schema = {.name = "fetch", .keys = fetch_keys, .n_keys = ARRAY_LEN(fetch_keys)};

static const struct schema_key receiver_keys[] = {
        {.name = "listen", .type = S_LISTEN, LIST_AT(receiver., listen), .least = 1, .fallback = "127.0.0.1:8080", .about = "addresses of the public listener"},
        {.name = "trusted_proxies", .type = S_NETWORK, LIST_AT(receiver., trusted_proxies), .later = "X-Forwarded-For is not read", .about = "networks whose X-Forwarded-For is believed"},
        {.name = "threads", .type = S_INT_AUTO, .offset = AT(receiver.threads), .min = 0, .max = 1024, .fallback = "auto", .about = "event loops; auto is one a core"},
        {.name = "body_max", .type = S_SIZE, .offset = AT(receiver.body_max), .min = 1024, .max = 64 << 20, .fallback = "2MiB", .about = "the largest body of any source"},
        {.name = "deadline", .type = S_MS, .offset = AT(receiver.deadline_ms), .min = 100, .max = 60000, .fallback = "2500ms", .about = "past it the answer is 503, never silence"},
        {.name = "connections", .type = S_INT, .offset = AT(receiver.connections), .min = 1, .max = 1000000, .fallback = "4096", .about = "open at once; when others wait, the oldest idle ones are closed"},
        {.name = "grace", .type = S_MS, .offset = AT(receiver.grace_ms), .min = 0, .max = 600000, .fallback = "10s", .about = "how long a drain may take"},
        {.name = "fetch", .type = S_MAP, .of = &fetch_schema, .about = "how keys that providers publish are fetched, by https"},
        {.name = "tls", .type = S_MAP, .of = &tls_schema, .offset = NOWHERE, .later = "this listener speaks plain HTTP, TLS ends at the proxy in front", .about = "TLS on the public listener"},
};
static const struct schema receiver_schema = {.name = "receiver", .keys = receiver_keys, .n_keys = ARRAY_LEN(receiver_keys)};

static const struct schema_key dispatcher_keys[] = {
        {.name = "transfers", .type = S_INT, .offset = AT(dispatcher.transfers), .min = 1, .max = 10000, .fallback = "200", .about = "sends in flight at once; each may need two open files (128 besides), and it does not start where the hard limit is lower"},
        {.name = "poll", .type = S_MS, .offset = AT(dispatcher.poll_ms), .min = 1, .max = 60000, .fallback = "50ms", .about = "pause between two looks for due deliveries"},
        {.name = "lease", .type = S_MS, .offset = AT(dispatcher.lease_ms), .min = 1000, .max = 3600000, .fallback = "120s", .about = "a claim not renewed for so long is taken over"},
        {.name = "grace", .type = S_MS, .offset = AT(dispatcher.grace_ms), .min = 0, .max = 600000, .fallback = "10s", .about = "at SIGTERM, what is on the wire may end within it"},
        {.name = "attachments", .type = S_TEXT, .offset = AT(dispatcher.attachments), .about = "folder of the files that mails carry; only what is below it is read"},
};
static const struct schema dispatcher_schema = {.name = "dispatcher", .keys = dispatcher_keys, .n_keys = ARRAY_LEN(dispatcher_keys)};

static const struct schema_key admin_keys[] = {
        {.name = "listen", .type = S_LISTEN, LIST_AT(admin., listen), .least = 1, .fallback = "127.0.0.1:9464", .about = "metrics and health; one port a process: +0, +1, +2"},
};
static const struct schema admin_schema = {.name = "admin", .keys = admin_keys, .n_keys = ARRAY_LEN(admin_keys)};

static const struct schema_key log_keys[] = {
        {.name = "format", .type = S_WORD, .words = log_formats, .offset = AT(log.format), .fallback = "json", .about = "shape of a line"},
        {.name = "level", .type = S_WORD, .words = log_levels, .offset = AT(log.level), .fallback = "info", .about = "the least that is written"},
};
static const struct schema log_schema = {.name = "log", .keys = log_keys, .n_keys = ARRAY_LEN(log_keys)};

static const struct schema_key host_keys[] = {
        {.name = "pawl", .type = S_FORMAT, .required = true, .offset = NOWHERE, .about = "version of this format"},
        {.name = "database", .type = S_TEXT, .required = true, .offset = AT(database), .about = "libpq connection string, without user and password"},
        {.name = "credentials", .type = S_TEXT, .offset = AT(credentials), .about = "directory of the secrets; default $CREDENTIALS_DIRECTORY"},
        {.name = "policy", .type = S_TEXT, LIST_AT(, policy), .least = 1, .fallback = "policy.yaml", .about = "files and patterns that `pawl policy` reads"},
        {.name = "templates", .type = S_TEXT, .offset = AT(templates), .fallback = "templates", .about = "directory of the message texts"},
        {.name = "receiver", .type = S_MAP, .of = &receiver_schema, .about = "the program that takes webhooks in"},
        {.name = "dispatcher", .type = S_MAP, .of = &dispatcher_schema, .about = "the program that sends"},
        {.name = "admin", .type = S_MAP, .of = &admin_schema, .about = "the listener for metrics and health"},
        {.name = "log", .type = S_MAP, .of = &log_schema, .about = "log lines on standard error"},
};
// clang-format on

const struct schema host_schema = {.name = "host file",
        .size = sizeof(struct host_config),
        .keys = host_keys,
        .n_keys = ARRAY_LEN(host_keys)};
