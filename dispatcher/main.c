#include "dispatcher/main.h"

#include "common/config/host.h"
#include "common/daemon.h"
#include "common/fault.h"
#include "common/http/admin.h"
#include "common/log.h"
#include "dispatcher/dispatcher_sql.h"
#include "dispatcher/loop.h"
#include "dispatcher/retention/retention.h"

#include <malloc.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>

enum {
    KEPT_MEMORY = 8 * 1024 * 1024,
    EXIT_UNAVAILABLE = 69,
    EXIT_CONFIG = 78,
    ADMIN_PORT_OFFSET = 1, // one admin port a process: receiver, dispatcher, console
    CONNECT_MS = 2000,
    STATEMENT_MS = 5000,
    SIGNAL_POLL_MS = 200,
    // Files: of a transfer its own connection and, while that is made, the socket that looks up the
    // name; at best as many again that are kept for the next ones. And the admin port's, the
    // database's.
    FILES_A_TRANSFER = 2,
    FILES_KEPT = 2,
    FILES_SPARE = 128,
};

struct process {
    const struct dispatcher_options *options;
    struct host_config *host;
    struct loop *loop;
    struct retention *retention;
    struct admin *admin;
    int signal_fd;
    pthread_t signals;
    atomic_bool ended;
};

// --- Signals

static void on_signal(struct process *process, int number)
{
    if (number == SIGHUP) {
        daemon_notify("RELOADING=1");
        loop_reload(process->loop);
        daemon_notify("READY=1");
    } else if (number == SIGTERM || number == SIGINT) {
        daemon_notify("STOPPING=1");
        loop_stop(process->loop);
    }
}

static void *watch_signals(void *arg)
{
    struct process *process = arg;
    while (!atomic_load(&process->ended)) {
        struct pollfd ready = {.fd = process->signal_fd, .events = POLLIN};
        if (poll(&ready, 1, SIGNAL_POLL_MS) > 0)
            on_signal(process, daemon_read_signal(process->signal_fd));
    }
    return NULL;
}

// --- Admin listener

static bool ready(void *user, struct text *checks)
{
    return loop_ready(user, checks);
}

static bool live(void *user)
{
    return loop_live(user);
}

// The host file names the first of three neighbouring ports; port 0 stays 0.
static void admin_address(const struct process *process, char *out, size_t room)
{
    const struct host_config *host = process->host;
    const char *listen = process->options->admin;
    if (!listen)
        listen = host->admin.n_listen > 0 ? host->admin.listen[0] : "127.0.0.1:9464";
    const char *colon = strrchr(listen, ':');
    long port = colon ? strtol(colon + 1, NULL, 10) : 0;
    if (process->options->admin || port == 0)
        snprintf(out, room, "%s", listen);
    else
        snprintf(out, room, "%.*s:%ld", (int)(colon - listen), listen, port + ADMIN_PORT_OFFSET);
}

static bool start_admin(struct process *process, struct err *err)
{
    char address[128];
    admin_address(process, address, sizeof address);
    process->admin = admin_start(
            &(struct admin_options){
                    .listen = address, .ready = ready, .live = live, .user = process->loop},
            err);
    return process->admin != NULL;
}

// --- Start and end

static void policy_active(void *user, const struct policy *policy)
{
    const struct process *process = user;
    const struct keep keep = {.version = policy->version,
            .keys_s = policy->keep_keys_s,
            .bodies_s = policy->keep_bodies_s,
            .park_s = policy->flow.park_s};
    retention_keep(process->retention, &keep);
}

static struct host_config *read_host(const char *path)
{
    struct diag diag = {0};
    struct host_config *host = host_config_new(path, &diag);
    if (diag.n > 0) {
        AUTO_TEXT struct text out = {0};
        text_init(&out, 1 << 20);
        diag_print(&diag, &out);
        fputs(text_cstr(&out), stderr);
    }
    diag_fini(&diag);
    return host;
}

static enum log_level level_of(const char *name)
{
    static const char *const names[] = {"error", "warning", "info", "debug"};
    for (size_t i = 0; name && i < ARRAY_LEN(names); i++)
        if (strcmp(name, names[i]) == 0)
            return (enum log_level)i;
    return LOG_LVL_INFO;
}

// Without the files it needs a try would fail at its connection, again and again, as if the
// provider were away.
static bool raise_files(const struct host_config *host)
{
    int64_t transfers = host->dispatcher.transfers;
    int64_t needed = FILES_A_TRANSFER * transfers + FILES_SPARE;
    int64_t limit = daemon_raise_files(needed + FILES_KEPT * transfers);
    if (limit >= needed)
        return true;
    LOG(ERROR, "dispatcher.files",
            "the limit of open files is too low: raise it (LimitNOFILE=, ulimit -Hn), or lower "
            "dispatcher.transfers",
            L_INT("limit", limit), L_INT("needed", needed), L_INT("transfers", transfers));
    return false;
}

static int run_loop(struct process *process, struct err *err)
{
    if (!start_admin(process, err)) {
        LOG(ERROR, "dispatcher.admin", "can't start the admin listener", L_STR("error", err->msg));
        return EXIT_UNAVAILABLE;
    }
    if (pthread_create(&process->signals, NULL, watch_signals, process) != 0)
        return EXIT_UNAVAILABLE;
    LOG(INFO, "dispatcher.started", "looking for what is due",
            L_INT("admin_port", admin_port(process->admin)),
            L_INT("transfers", process->host->dispatcher.transfers));
    daemon_notify("READY=1");
    int code = loop_run(process->loop);
    atomic_store(&process->ended, true);
    pthread_join(process->signals, NULL);
    LOG(INFO, "dispatcher.ended", "stopped", L_INT("code", code));
    return code;
}

static int run(struct process *process)
{
    const struct host_config *host = process->host;
    const struct dispatcher_options *options = process->options;
    struct err err = {0};
    const struct pg_options database = {.conninfo = host->database,
            .role = options->role ? options->role : "pawl_dispatcher",
            .application = "pawl dispatcher",
            .stmts = sql_statements,
            .n_stmts = SQL_COUNT,
            .connect_timeout_ms = CONNECT_MS,
            .statement_timeout_ms = STATEMENT_MS};
    const struct loop_options loop = {.database = &database,
            .credentials = host->credentials,
            .attachments = host->dispatcher.attachments,
            .transfers = host->dispatcher.transfers,
            .poll_ms = host->dispatcher.poll_ms,
            .lease_ms = host->dispatcher.lease_ms,
            .grace_ms = host->dispatcher.grace_ms,
            .policy_active = policy_active,
            .user = process};
    process->retention = retention_new(host->database, &err);
    process->loop = process->retention ? loop_new(&loop, &err) : NULL;
    if (!process->loop) {
        retention_free(process->retention);
        LOG(ERROR, "dispatcher.failed", "can't start", L_STR("error", err.msg));
        return EXIT_UNAVAILABLE;
    }
    int code = run_loop(process, &err);
    if (process->admin)
        admin_stop(process->admin);
    retention_free(process->retention);
    loop_free(process->loop);
    return code;
}

// Contents come and go many times a second: what was freed stays for the next, up to this, and is
// not given to the system and asked for again.
static void keep_memory(void)
{
    (void)mallopt(M_TRIM_THRESHOLD, KEPT_MEMORY);
    (void)mallopt(M_MMAP_THRESHOLD, KEPT_MEMORY / 8);
}

int dispatcher_main(const struct dispatcher_options *options)
{
    daemon_guard_memory();
    keep_memory();
    fault_init();
    daemon_block_signals();
    if (options->die_with_parent)
        daemon_die_with_parent(SIGTERM);
    struct process process = {.options = options, .signal_fd = daemon_signal_fd()};
    process.host = read_host(options->config);
    if (!process.host)
        return EXIT_CONFIG;
    log_init("dispatcher", strcmp(process.host->log.format, "text") != 0,
            level_of(process.host->log.level));
    int code = raise_files(process.host) ? run(&process) : EXIT_CONFIG;
    host_config_free(process.host);
    return code;
}
