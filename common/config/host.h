// host.h: the host file (pawl.yaml): what differs from machine to machine.
#pragma once
#include "common/config/diag.h"

struct host_config {
    char *path, *dir; // of the file itself; relative names in it are relative to dir
    char *database; // libpq connection string, without a user: each process logs in as its own role
    char *credentials; // directory, made absolute; default $CREDENTIALS_DIRECTORY, else NULL
    char **policy;     // glob patterns, as written: policy_read_files(dir, ..)
    size_t n_policy;
    char *templates; // directory, made absolute
    struct {
        char **listen; // "address:port"
        size_t n_listen;
        char **trusted_proxies;
        size_t n_trusted_proxies;
        int threads;         // 0 = auto: one a core
        size_t body_max;     // bytes
        int64_t deadline_ms; // past it 503
        int connections;
        int64_t grace_ms; // how long a drain may take, default 10 s
        struct {
            char *ca;       // trusted CAs, made absolute; NULL = the system's
            char **connect; // "host=address:port"
            size_t n_connect;
        } fetch; // of keys that providers publish
    } receiver;
    struct {
        int transfers;
        int64_t poll_ms, lease_ms;
        int64_t grace_ms;  // SIGTERM: what is on the wire may end within this; default 10 s
        char *attachments; // folder, made absolute; NULL = no mail carries files
    } dispatcher;
    struct {
        char **listen;
        size_t n_listen;
    } admin;
    struct {
        char *format; // json | text
        char *level;  // error | warning | info | debug
    } log;
};

// Reads and checks the file; all findings go to diag; NULL when one is an error. Free with
// host_config_free().
MUST_CHECK struct host_config *host_config_new(const char *path, struct diag *diag);
void host_config_free(struct host_config *config);

struct schema;
extern const struct schema host_schema; // for the page docs/host-file.md and its test
