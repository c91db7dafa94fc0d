#include "receiver/main.h"

#include "common/clock.h"
#include "common/config/host.h"
#include "common/daemon.h"
#include "common/fault.h"
#include "common/http/admin.h"
#include "common/log.h"
#include "common/metrics.h"
#include "common/pg/pg.h"
#include "receiver/accept/accept_sql.h"
#include "receiver/plant.h"
#include "receiver/reject/reject_sql.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#define EXIT_UNAVAILABLE 69 // sysexits.h
#define EXIT_CONFIG 78
#define LISTEN_MAX 16
#define LISTEN_FD_FIRST 3
#define TICK_MS 1000
#define PREFLIGHT_MS 2000
#define SPARE_FDS 256 // besides one a connection

struct receiver {
    const struct receiver_options *options;
    struct host_config *host;
    int fds[LISTEN_MAX];
    size_t n_fds;
    struct plant *plant;
    struct admin *admin;
};

static int exit_code(const struct err *err)
{
    return err->kind == ERR_TEMP ? EXIT_UNAVAILABLE : EXIT_CONFIG;
}

static struct host_config *load_host(const char *path)
{
    struct diag diag = {0};
    struct host_config *host = host_config_new(path, &diag);
    AUTO_TEXT struct text out;
    text_init(&out, (size_t)1 << 20);
    diag_print(&diag, &out);
    fputs(text_cstr(&out), stderr);
    diag_fini(&diag);
    return host;
}

static void start_log(const struct host_config *host)
{
    static const char *const levels[] = {[LOG_LVL_ERROR] = "error",
            [LOG_LVL_WARNING] = "warning",
            [LOG_LVL_INFO] = "info",
            [LOG_LVL_DEBUG] = "debug"};
    size_t level = LOG_LVL_INFO;
    for (size_t i = 0; i < ARRAY_LEN(levels); i++)
        if (strcmp(levels[i], host->log.level) == 0)
            level = i;
    log_init("receiver", strcmp(host->log.format, "json") == 0, (enum log_level)level);
}

// One descriptor a connection. Where the hard limit is too low, fewer connections are open at once:
// a full table of files would also keep the database away, and have the loops ask for connections
// that they can't take.
static int raise_files(int connections)
{
    int64_t limit = daemon_raise_files((int64_t)connections + SPARE_FDS);
    if (limit >= (int64_t)connections + SPARE_FDS)
        return connections;
    int64_t least = limit / 2;
    int64_t fit = limit > SPARE_FDS + least ? limit - SPARE_FDS : least;
    LOG(WARNING, "receiver.files", "the limit of open files is below receiver.connections",
            L_INT("limit", limit), L_INT("connections", fit));
    return (int)fit;
}

// Settings that break the first promise, and a schema that this binary does not fit, are found
// before anything is taken in. A database that is away is waited for while serving 503.
static bool check_database(const struct host_config *host, struct err *err)
{
    struct pg_options options = {.conninfo = host->database,
            .role = "pawl_receiver",
            .application = "pawl receiver",
            .stmts = accept_statements,
            .n_stmts = ACCEPT_COUNT,
            .connect_timeout_ms = PREFLIGHT_MS,
            .statement_timeout_ms = PREFLIGHT_MS,
            .demand_durable = true};
    struct pg *pg = pg_connect(&options, err);
    bool fits = pg && pg_prepare(pg, reject_statements, REJECT_COUNT,
                              clock_mono_ms() + PREFLIGHT_MS, err);
    pg_close(pg);
    if (!fits && err->kind == ERR_TEMP)
        LOG(WARNING, "database.unavailable", err->msg);
    return fits || err->kind == ERR_TEMP;
}

static bool listen_on(struct receiver *receiver, const char *address, struct err *err)
{
    int port = 0;
    if (receiver->n_fds == LISTEN_MAX)
        return err_set(err, ERR_INPUT, "more than %d listen addresses", LISTEN_MAX);
    int fd = daemon_listen(address, &port, err);
    if (fd < 0)
        return false;
    receiver->fds[receiver->n_fds++] = fd;
    LOG(INFO, "receiver.listening", "listening", L_STR("address", address), L_INT("port", port));
    return true;
}

static bool take_inherited(struct receiver *receiver, struct err *err)
{
    int n = daemon_listen_fds(LISTEN_MAX, err);
    for (int i = 0; i < n; i++)
        receiver->fds[receiver->n_fds++] = LISTEN_FD_FIRST + i;
    return n >= 0;
}

static bool open_listeners(struct receiver *receiver, struct err *err)
{
    if (receiver->options->listen)
        return listen_on(receiver, receiver->options->listen, err);
    if (!take_inherited(receiver, err))
        return false;
    if (receiver->n_fds > 0)
        return true;
    for (size_t i = 0; i < receiver->host->receiver.n_listen; i++)
        if (!listen_on(receiver, receiver->host->receiver.listen[i], err))
            return false;
    return receiver->n_fds > 0 || err_set(err, ERR_INPUT, "receiver.listen names no address");
}

static bool start_admin(struct receiver *receiver, struct err *err)
{
    const char *listen = receiver->options->admin;
    if (!listen && receiver->host->admin.n_listen)
        listen = receiver->host->admin.listen[0];
    if (!listen)
        return true;
    struct admin_options options = {
            .listen = listen, .ready = plant_ready, .live = plant_live, .user = receiver->plant};
    receiver->admin = admin_start(&options, err);
    return receiver->admin;
}

static bool start(struct receiver *receiver, struct err *err)
{
    receiver->host->receiver.connections = raise_files(receiver->host->receiver.connections);
    if (!check_database(receiver->host, err) || !open_listeners(receiver, err))
        return false;
    receiver->plant = plant_start(receiver->host, receiver->fds, receiver->n_fds, err);
    return receiver->plant && start_admin(receiver, err);
}

static void reload(struct receiver *receiver)
{
    char state[64];
    snprintf(state, sizeof state, "RELOADING=1\nMONOTONIC_USEC=%lld", (long long)clock_mono_us());
    daemon_notify(state);
    plant_reload(receiver->plant);
    daemon_notify("READY=1");
    LOG0(INFO, "receiver.reload", "policy and secrets are loaded again");
}

// Until a signal that ends it.
static void serve(struct receiver *receiver, int signals)
{
    int signal = 0;
    while (signal != SIGTERM && signal != SIGINT) {
        struct pollfd wait = {.fd = signals, .events = POLLIN};
        poll(&wait, 1, TICK_MS);
        signal = daemon_read_signal(signals);
        if (signal == SIGHUP)
            reload(receiver);
        plant_tick(receiver->plant);
        if (plant_live(receiver->plant))
            daemon_notify("WATCHDOG=1");
    }
}

static void stop(struct receiver *receiver)
{
    int64_t start_ms = clock_mono_ms();
    for (size_t i = 0; i < receiver->n_fds; i++)
        close(receiver->fds[i]);
    int64_t grace_ms = receiver->host->receiver.grace_ms;
    // The admin listener answers until the drain is over: a balancer sees that it is not ready.
    if (receiver->plant)
        plant_drain(receiver->plant, grace_ms);
    admin_stop(receiver->admin);
    if (receiver->plant)
        LOG(INFO, "receiver.stopped", "stopped", L_INT("drain_ms", clock_mono_ms() - start_ms));
    plant_free(receiver->plant);
    host_config_free(receiver->host);
}

int receiver_main(const struct receiver_options *options)
{
    daemon_guard_memory();
    daemon_block_signals();
    fault_init();
    if (options->die_with_parent)
        daemon_die_with_parent(SIGKILL);
    struct receiver receiver = {.options = options, .host = load_host(options->config)};
    if (!receiver.host)
        return EXIT_CONFIG;
    start_log(receiver.host);
    AUTO_CLOSE int signals = daemon_signal_fd();
    struct err err = {0};
    bool started = start(&receiver, &err);
    if (started) {
        series_set(metric(METRIC_BUILD_INFO, PAWL_VERSION, NULL), 1);
        daemon_notify("READY=1");
        serve(&receiver, signals);
        daemon_notify("STOPPING=1");
    } else {
        LOG(ERROR, "receiver.start", err.msg);
    }
    stop(&receiver);
    return started ? 0 : exit_code(&err);
}
