#include "common/config/host.h"

#include "common/config/file.h"
#include "common/config/schema.h"
#include "common/config/value.h"

#include <limits.h>

// The directory part of path: "." for a bare name.
static char *dir_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    if (!slash)
        return xstrdup(".");
    size_t n = slash == path ? 1 : (size_t)(slash - path);
    return slice_dup((struct slice){(const unsigned char *)path, n});
}

// Names are made absolute, so that a process may change its directory.
static void make_absolute(const char *dir, char **name)
{
    AUTO_FREE char *whole = realpath(dir, NULL);
    char *joined = path_join(whole ? whole : dir, *name);
    free(*name);
    *name = joined;
}

// Does the connection string carry this keyword (key=value form)?
static bool has_keyword(const char *conninfo, const char *keyword)
{
    size_t n = strlen(keyword);
    for (const char *at = strstr(conninfo, keyword); at; at = strstr(at + n, keyword)) {
        bool begins = at == conninfo || at[-1] == ' ' || at[-1] == '?' || at[-1] == '&';
        const char *after = at + n + strspn(at + n, " ");
        if (begins && *after == '=')
            return true;
    }
    return false;
}

static void check_database(
        const struct host_config *config, const struct schema_load *load, struct diag *diag)
{
    const char *database = config->database;
    if (!database)
        return;
    const char *scheme = strstr(database, "://");
    bool login = scheme && strchr(scheme, '@'); // user, perhaps with a password
    const struct yaml_node *node = schema_where(load, &config->database);
    if (login || has_keyword(database, "user"))
        yaml_diag_secret(diag, node, "database-user",
                "database: no user here, each process logs in as its own role");
    if (has_keyword(database, "password"))
        yaml_diag_secret(diag, node, "database-password",
                "database: no password here, use peer or certificate login or a passfile");
}

static void check_admin(const struct host_config *config, const struct schema_load *load)
{
    for (size_t i = 0; i < config->admin.n_listen; i++) {
        const char *listen = config->admin.listen[i];
        if (!listen || value_is_loopback(value_listen_host(slice_of(listen))))
            continue;
        const void *const at[2] = {&config->admin.listen[i], NULL};
        schema_diag(load, DIAG_WARNING, at, "admin-open",
                "admin.listen: '%s' can be reached from other machines, and metrics ask for no "
                "login",
                listen);
    }
}

static void check_lease(const struct host_config *config, const struct schema_load *load)
{
    const void *const at[2] = {&config->dispatcher.poll_ms, &config->dispatcher.lease_ms};
    if (config->dispatcher.poll_ms * 3 > config->dispatcher.lease_ms)
        schema_diag(load, DIAG_ERROR, at, "lease",
                "dispatcher: poll must be at most a third of lease, which is when leases are "
                "renewed");
}

static void fill(struct host_config *config, const struct yaml_doc *doc, struct diag *diag)
{
    struct schema_load *load = schema_load_new(diag);
    schema_load(load, &host_schema, config, &doc->root, &doc->root);
    check_lease(config, load);
    if (config->receiver.fetch.ca)
        make_absolute(config->dir, &config->receiver.fetch.ca);
    if (config->dispatcher.attachments)
        make_absolute(config->dir, &config->dispatcher.attachments);
    if (config->templates)
        make_absolute(config->dir, &config->templates);
    check_database(config, load, diag);
    check_admin(config, load);
    const char *systemd = getenv("CREDENTIALS_DIRECTORY");
    if (!config->credentials && systemd)
        config->credentials = xstrdup(systemd);
    if (config->credentials)
        make_absolute(config->dir, &config->credentials);
    schema_load_free(load);
}

struct host_config *host_config_new(const char *path, struct diag *diag)
{
    AUTO_FREE char *bytes = NULL;
    size_t len = 0, before = diag->errors;
    struct err err = {0};
    if (!file_read(path, YAML_FILE_MAX, &bytes, &len, &err)) {
        diag_file(diag, DIAG_ERROR, path, "file", "%s", err.msg);
        return NULL;
    }
    struct yaml_doc *doc =
            yaml_doc_read(path, (struct slice){(const unsigned char *)bytes, len}, diag);
    if (!doc)
        return NULL;
    struct host_config *config = xcalloc(1, sizeof *config);
    config->path = xstrdup(path);
    config->dir = dir_of(path);
    fill(config, doc, diag);
    yaml_doc_free(doc);
    if (diag->errors == before)
        return config;
    host_config_free(config);
    return NULL;
}

void host_config_free(struct host_config *config)
{
    if (!config)
        return;
    schema_free_in(&host_schema, config);
    free(config->path);
    free(config->dir);
    free(config);
}
