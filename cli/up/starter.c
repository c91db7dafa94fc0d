#include "cli/up/starter.h"

#include "cli/starter_sql.h"
#include "common/json/scan.h"
#include "common/keys.h"
#include "common/text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_MAX (1 << 20)
#define SINK_URL "smtp://127.0.0.1:"
#define SINK_PORT_FILE "sink-port" // what stands in policy.yaml for the sink

static const struct {
    const char *path;
    int text; // of starter_statements, which are texts here
} files[] = {
        {"policy.yaml", STARTER_POLICY},
        {"templates/payment-receipt/email.en.subject.mustache", STARTER_PAYMENT_RECEIPT_SUBJECT},
        {"templates/payment-receipt/email.en.text.mustache", STARTER_PAYMENT_RECEIPT_TEXT},
        {"templates/payment-receipt/email.en.html.mustache", STARTER_PAYMENT_RECEIPT_HTML},
        {"templates/order-shipped/email.en.subject.mustache", STARTER_ORDER_SHIPPED_SUBJECT},
        {"templates/order-shipped/email.en.text.mustache", STARTER_ORDER_SHIPPED_TEXT},
};
static const char *const folders[] = {
        "templates", "templates/payment-receipt", "templates/order-shipped", "credentials"};
static const struct {
    const char *path, *prefix;
} secrets[] = {{"credentials/stripe", "whsec_"}, {"credentials/shop", "shop_"}};

static bool write_all(const char *path, const char *bytes, size_t len, int flags, struct err *err)
{
    AUTO_CLOSE int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | flags, 0600);
    ssize_t n = fd < 0 ? -1 : write(fd, bytes, len);
    return n == (ssize_t)len ||
           err_set(err, ERR_TEMP, "can't write '%.180s': %s", path, strerror(errno));
}

// Written under another name first, so that nobody reads half a file.
static bool replace(const char *dir, const char *name, const struct text *text, struct err *err)
{
    char path[512], half[520];
    snprintf(path, sizeof path, "%.380s/%.100s", dir, name);
    snprintf(half, sizeof half, "%s.new", path);
    if (!write_all(half, text_cstr(text), text->len, O_TRUNC, err))
        return false;
    return rename(half, path) == 0 ||
           err_set(err, ERR_TEMP, "can't write '%.180s': %s", path, strerror(errno));
}

static bool write_once(const char *dir, const char *name, const char *text, struct err *err)
{
    char path[512];
    snprintf(path, sizeof path, "%.380s/%.100s", dir, name);
    return access(path, F_OK) == 0 || write_all(path, text, strlen(text), O_EXCL, err);
}

static bool write_secrets(const char *dir, struct err *err)
{
    for (size_t i = 0; i < ARRAY_LEN(secrets); i++) {
        char hex[KEY_HEX], value[64];
        key_hex(key_random(), hex);
        snprintf(value, sizeof value, "%s%s\n", secrets[i].prefix, hex);
        if (!write_once(dir, secrets[i].path, value, err))
            return false;
    }
    return true;
}

bool starter_write(const char *dir, struct err *err)
{
    for (size_t i = 0; i < ARRAY_LEN(folders); i++) {
        char path[512];
        snprintf(path, sizeof path, "%.380s/%.100s", dir, folders[i]);
        if (mkdir(path, 0700) != 0 && errno != EEXIST)
            return err_set(err, ERR_TEMP, "can't make '%.180s': %s", path, strerror(errno));
    }
    for (size_t i = 0; i < ARRAY_LEN(files); i++)
        if (!write_once(dir, files[i].path, starter_statements[files[i].text].sql, err))
            return false;
    return write_secrets(dir, err);
}

static bool read_file(const char *dir, const char *name, struct text *out)
{
    char path[512], part[4096];
    snprintf(path, sizeof path, "%.380s/%.100s", dir, name);
    text_init(out, FILE_MAX);
    FILE *file = fopen(path, "re");
    size_t n = 0;
    while (file && (n = fread(part, 1, sizeof part, file)) > 0)
        text_add(out, (struct slice){(unsigned char *)part, n});
    if (file)
        fclose(file);
    return file && !out->overflow;
}

static int port_in(const char *text)
{
    long port = text ? strtol(text, NULL, 10) : 0;
    return port > 0 && port < 65536 ? (int)port : 0;
}

int starter_sink_port(const char *dir)
{
    AUTO_TEXT struct text policy = {0}, written = {0};
    if (!read_file(dir, "policy.yaml", &policy))
        return 0;
    const char *url = strstr(text_cstr(&policy), SINK_URL);
    int port = url ? port_in(url + strlen(SINK_URL)) : 0;
    bool known = read_file(dir, SINK_PORT_FILE, &written);
    return port == (known ? port_in(text_cstr(&written)) : STARTER_SINK_PORT) ? port : 0;
}

static bool write_sink_port(const char *dir, int port, struct err *err)
{
    AUTO_TEXT struct text text = {0};
    text_init(&text, 16);
    return text_fmt(&text, "%d\n", port) && replace(dir, SINK_PORT_FILE, &text, err);
}

bool starter_set_sink_port(const char *dir, int from, int to, struct err *err)
{
    char was[64];
    AUTO_TEXT struct text policy = {0}, changed = {0};
    text_init(&changed, FILE_MAX);
    snprintf(was, sizeof was, "%s%d", SINK_URL, from);
    if (!write_sink_port(dir, to, err))
        return false;
    if (!read_file(dir, "policy.yaml", &policy))
        return err_set(err, ERR_TEMP, "can't read '%.180s/policy.yaml'", dir);
    const char *at = from == to ? NULL : strstr(text_cstr(&policy), was);
    if (!at)
        return true;
    text_add(
            &changed, (struct slice){(const unsigned char *)policy.ptr, (size_t)(at - policy.ptr)});
    text_fmt(&changed, "%s%d%s", SINK_URL, to, at + strlen(was));
    return changed.overflow ? err_set(err, ERR_INPUT, "policy.yaml is too large")
                            : replace(dir, "policy.yaml", &changed, err);
}

// A YAML double-quoted text takes what a JSON string has. Relative names are relative to base.
static void quoted(struct text *out, const char *base, const char *name)
{
    AUTO_TEXT struct text path = {0};
    text_init(&path, 8192);
    if (base && name[0] != '/')
        text_fmt(&path, "%s/", base);
    text_str(&path, name);
    json_quote(out, text_slice(&path));
}

static void write_policies(const struct starter_host *host, struct text *out)
{
    const struct host_config *of = host->of;
    text_str(out, "policy: [");
    for (size_t i = 0; of && i < of->n_policy; i++) {
        text_str(out, i ? ", " : "");
        quoted(out, of->dir, of->policy[i]);
    }
    if (!of)
        quoted(out, host->dir, "policy.yaml");
    text_str(out, "]\ntemplates: ");
    quoted(out, host->dir, of ? of->templates : "templates");
    if (!of || of->credentials) {
        text_str(out, "\ncredentials: ");
        quoted(out, host->dir, of ? of->credentials : "credentials");
    }
}

static void write_fetch(const struct host_config *of, struct text *out)
{
    if (!of->receiver.fetch.ca && of->receiver.fetch.n_connect == 0)
        return;
    text_str(out, "  fetch:\n    connect: [");
    for (size_t i = 0; i < of->receiver.fetch.n_connect; i++) {
        text_str(out, i ? ", " : "");
        json_quote(out, slice_of(of->receiver.fetch.connect[i]));
    }
    text_str(out, "]\n");
    if (of->receiver.fetch.ca) {
        text_str(out, "    ca: ");
        quoted(out, of->dir, of->receiver.fetch.ca);
        text_char(out, '\n');
    }
}

static void write_attachments(const struct host_config *of, struct text *out)
{
    if (!of->dispatcher.attachments)
        return;
    text_str(out, "  attachments: ");
    quoted(out, of->dir, of->dispatcher.attachments);
    text_char(out, '\n');
}

static void write_programs(const struct starter_host *host, struct text *out)
{
    const struct host_config *of = host->of;
    text_fmt(out, "\nreceiver:\n  listen: [\"127.0.0.1:%d\"]\n  grace: 1s\n", host->port);
    if (of)
        text_fmt(out, "  body_max: %zu\n  deadline: %lldms\n  connections: %d\n",
                of->receiver.body_max, (long long)of->receiver.deadline_ms,
                of->receiver.connections);
    if (of && of->receiver.threads > 0) // 0 is auto, as is nothing
        text_fmt(out, "  threads: %d\n", of->receiver.threads);
    if (of)
        write_fetch(of, out);
    text_str(out, "dispatcher:\n  grace: 1s\n");
    if (of)
        text_fmt(out, "  transfers: %d\n  poll: %lldms\n  lease: %lldms\n",
                of->dispatcher.transfers, (long long)of->dispatcher.poll_ms,
                (long long)of->dispatcher.lease_ms);
    if (of)
        write_attachments(of, out);
    text_fmt(out, "admin:\n  listen: [\"127.0.0.1:%d\"]\nlog: { format: %s, level: %s }\n",
            host->admin_port, of ? of->log.format : "text", of ? of->log.level : "warning");
}

bool starter_host_write(const struct starter_host *host, struct err *err)
{
    AUTO_TEXT struct text out = {0};
    text_init(&out, FILE_MAX);
    text_str(&out,
            "# Written by `pawl up` at each start. Change policy.yaml, or start with your own\n"
            "# host file by --config.\npawl: 1\ndatabase: ");
    quoted(&out, NULL, host->database);
    text_char(&out, '\n');
    write_policies(host, &out);
    write_programs(host, &out);
    return out.overflow ? err_set(err, ERR_INPUT, "the host file is too large")
                        : replace(host->dir, "pawl.yaml", &out, err);
}
